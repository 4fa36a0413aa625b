"""Steps whose gradients could not be computed: incidents made of the causes stored before the exception.

No window tells of such a step: it was never recorded. Its cause was, and is enough for the verdict.
"""

import os
from collections.abc import Sequence

from tb_gradhealth.format.causes import Cause
from tb_gradhealth.health.results import Incident

ERROR = "error"
"""The kind of a cause that explains an exception, and of its incident."""


def error_incidents(causes: Sequence[Cause], first_step: int | None, last_step: int | None) -> list[Incident]:
    """One incident for each cause of an exception; for each cause at all where no step was ever recorded.

    Args:
      causes: of the run.
      first_step, last_step: of what was recorded; None: nothing was.
    """
    return [_incident(c, last_step) for c in causes if c.kind == ERROR or (first_step is None and c.kind == "none")]


def _incident(cause: Cause, last_step: int | None) -> Incident:
    after = 0 if last_step is None else last_step + 1
    step = cause.step if cause.step >= 0 else after
    return Incident(
        kind=cause.kind,
        group=cause.group,
        first_step=step,
        last_step=step,
        steps=1,
        rows=(),
        variables=cause.variables,
        severity="bad",
        evidence={},
        sentence=_sentence(cause),
        open=last_step is None or last_step < step,
        cause=cause,
        rule="gradients_failed" if cause.kind == ERROR else "never_recorded",
    )


def _sentence(cause: Cause) -> str:
    where = f" ({os.path.basename(cause.file)}:{cause.line})" if cause.line else ""
    if cause.kind == ERROR:
        raised = next(iter(cause.evidence), "").rstrip(".") or "Computing the gradients raised an exception"
        return f"{raised}; cause: {cause.reason.rstrip('.')}{where}."
    return f"Gradients were None and the step failed before it was recorded; cause: {cause.reason.rstrip('.')}{where}."
