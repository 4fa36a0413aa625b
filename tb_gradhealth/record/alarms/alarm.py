"""What an alarm is: something called with each new incident, that may know of the training it is attached to.

Promises: an alarm hears of each incident once, in the thread that found it, after the incident and its causes are in
the log; an alarm that fails is one warning, and neither the training nor the other alarms suffer.
"""

import dataclasses
from collections.abc import Callable, Collection, Sequence
from typing import Any

from tb_gradhealth.health import Incident
from tb_gradhealth.record.evidence import Evidence
from tb_gradhealth.record.withholding import RECORD

SEVERITIES = ("info", "watch", "bad")
"""From harmless to broken."""


@dataclasses.dataclass
class Training:
    """What an alarm may know of, and do to, the training that is recorded.

    Attributes:
      log_dir: as the user gave it.
      evidence: what the first bad step was made of; None where it is not kept (TensorFlow 1).
      on_nonfinite: what becomes of updates that are not finite.
      model: in `fit`, the model; else None.
      variables: gives the variables seen so far; with a model, all its weights.
    """

    log_dir: str
    evidence: Evidence | None = None
    on_nonfinite: str = RECORD
    model: Any = None
    variables: Callable[[], Sequence[Any]] = tuple
    stop_asked: bool = False

    def stop(self) -> None:
        """Ends the training after the present step, where the loop is not the user's own: in `fit` and by v1's hook."""
        self.stop_asked = True
        if self.model is not None:
            self.model.stop_training = True


class Alarm:
    """Base of the ready-made alarms.

    Args:
      kinds: only incidents of these kinds (``"nan"``, ``"inf"``, ``"none"``, ``"exploding"``, …); None for all.
      severity: only incidents at least this severe: ``"info"``, ``"watch"`` or ``"bad"``.

    Raises:
      TypeError, ValueError: an argument is not what it should be.
    """

    def __init__(self, kinds: Collection[str] | None = None, severity: str = "watch") -> None:
        if isinstance(kinds, str) or not (kinds is None or all(isinstance(kind, str) for kind in kinds)):
            raise TypeError(
                f"`kinds` must be a list of kinds of incidents, or None for all. Received: kinds={kinds!r}. "
                'Write it like kinds=["nan", "inf"].'
            )
        if severity not in SEVERITIES:
            raise ValueError(
                f'`severity` must be "info", "watch" or "bad". Received: severity={severity!r}. The alarm is raised '
                "for incidents that are at least so severe."
            )
        self._kinds = None if kinds is None else frozenset(kinds)
        self._severity = severity

    def begin(self, training: Training) -> None:
        """The alarm belongs to this training from now on."""

    def __call__(self, incident: Incident) -> None:
        """Raises the alarm if it is meant for incidents like this one."""
        severe = SEVERITIES.index(incident.severity) >= SEVERITIES.index(self._severity)
        if severe and (self._kinds is None or incident.kind in self._kinds):
            self.raised(incident)

    def raised(self, incident: Incident) -> None:
        """Does what the alarm is for."""
        raise NotImplementedError

    def close(self) -> None:
        """The training is over: finishes what is under way."""
