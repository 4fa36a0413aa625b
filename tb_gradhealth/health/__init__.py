"""The rules: windows in, states, incidents and a verdict out. One definition for the writer, the server and the report.

Knows the format and NumPy; neither TensorFlow nor HTTP nor how anything is drawn.
"""

from tb_gradhealth.health.assess import assess
from tb_gradhealth.health.assessment import Assessment
from tb_gradhealth.health.results import STATE_ORDER, Incident, RunHealth, VariableHealth
from tb_gradhealth.health.thresholds import GivenThresholds, Thresholds
from tb_gradhealth.health.tracker import Tracker

__all__ = [
    "STATE_ORDER",
    "Assessment",
    "GivenThresholds",
    "Incident",
    "RunHealth",
    "Thresholds",
    "Tracker",
    "VariableHealth",
    "assess",
]
