"""An alarm that writes one line."""

import logging
from collections.abc import Collection

from tb_gradhealth.health import Incident
from tb_gradhealth.record.alarms.alarm import Alarm

LEVELS = {"info": logging.INFO, "watch": logging.WARNING, "bad": logging.ERROR}


class LogLine(Alarm):
    """Logs each incident as one line: what happened, to which variables, since which step, and where the cause is.

    ```python
    GradHealthCallback("logs/run1", on_incident=tb_gradhealth.alarms.LogLine())
    ```

    Args:
      logger: name of a logger of Python's `logging`. Bad incidents are logged as errors, those to watch as warnings,
        the others as information. A program that has not set up `logging` gets warnings and errors on standard error.
      kinds, severity: see `Alarm`.
    """

    def __init__(
        self, logger: str = "tb_gradhealth", *, kinds: Collection[str] | None = None, severity: str = "watch"
    ) -> None:
        super().__init__(kinds, severity)
        self._logger = logger

    def raised(self, incident: Incident) -> None:
        logging.getLogger(self._logger).log(LEVELS[incident.severity], "%s", line_of(incident))


def line_of(incident: Incident) -> str:
    """An incident in one line."""
    where = ""
    if incident.cause is not None:
        cause = incident.cause
        where = f" ({cause.file}:{cause.line}: {cause.reason})" if cause.line else f" ({cause.reason})"
    return " ".join(f"Step {incident.first_step}: {incident.sentence}{where}".split())
