"""Gradient health for TensorFlow and Keras, in TensorBoard.

The public names are imported when they are first used, so that importing this package imports no TensorFlow: the
TensorBoard process and the report do without it.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import tb_gradhealth.alarms as alarms
    import tb_gradhealth.v1 as v1
    from tb_gradhealth.explain import explain as explain
    from tb_gradhealth.format.causes import Cause as Cause
    from tb_gradhealth.health import Incident as Incident
    from tb_gradhealth.health import Thresholds as Thresholds
    from tb_gradhealth.record.keras_callback import GradHealthCallback as GradHealthCallback
    from tb_gradhealth.record.watch import watch as watch
    from tb_gradhealth.record.writer import GradHealthWriter as GradHealthWriter

__version__ = "0.1.0"

_HOME = {
    "Cause": "tb_gradhealth.format.causes",
    "GradHealthCallback": "tb_gradhealth.record.keras_callback",
    "GradHealthWriter": "tb_gradhealth.record.writer",
    "Incident": "tb_gradhealth.health",
    "Thresholds": "tb_gradhealth.health",
    "explain": "tb_gradhealth.explain",
    "watch": "tb_gradhealth.record.watch",
}

__all__ = [
    "Cause",
    "GradHealthCallback",
    "GradHealthWriter",
    "Incident",
    "Thresholds",
    "__version__",
    "alarms",
    "explain",
    "v1",
    "watch",
]


def __getattr__(name: str) -> Any:
    if name in ("alarms", "v1"):
        return importlib.import_module(f"tb_gradhealth.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
