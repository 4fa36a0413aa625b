"""`tb-gradhealth report`: verdicts as text, JSON, Markdown, and in a notebook cell.

Knows the format and the rules; neither TensorFlow nor TensorBoard's server.
"""

from tb_gradhealth.report.model import Report, RunReport
from tb_gradhealth.report.page_markdown import run_markdown

__all__ = ["Report", "RunReport", "run_markdown"]
