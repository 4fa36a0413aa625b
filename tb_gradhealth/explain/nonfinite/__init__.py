"""Why a gradient or a loss is NaN or Inf: the operation in which it was born, on whose line, from which numbers.

    eager step noted as it ran (`live`, `eager_record`) ─┐
    traced step run once more (`graph_run`)              ├─► `trace` ─► `walk` ─► `blame` ─► causes
    TensorFlow 1 run kept as it ran (`session_keep`)    ─┘            births    lines, words

`explain_step` answers for a function without any run.
"""

from tb_gradhealth.explain.nonfinite.graph_run import CannotRun
from tb_gradhealth.explain.nonfinite.step import StepWatch, explain_step

__all__ = ["CannotRun", "StepWatch", "explain_step"]
