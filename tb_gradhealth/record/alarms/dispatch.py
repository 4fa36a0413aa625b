"""Telling all alarms of an incident, each on its own: one that fails is a warning and silences no other."""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from tb_gradhealth.health import Incident
from tb_gradhealth.record.alarms.alarm import Training
from tb_gradhealth.record.guard import Guard

OnIncident: TypeAlias = Callable[[Incident], object] | Iterable[Callable[[Incident], object]] | None
"""The argument `on_incident`: a function or a ready-made alarm, a list of them, or None."""


class Alarms:
    """All alarms of one recorder.

    Args:
      on_incident: the user's argument.
      training: given to those alarms that want to know.

    Raises:
      TypeError: it is none of what it should be.
    """

    def __init__(self, on_incident: OnIncident, training: Training) -> None:
        self.training = training
        self._alarms = [(alarm, Guard("calling `on_incident`")) for alarm in checked_alarms(on_incident)]
        for alarm, guard in self._alarms:
            begin = getattr(alarm, "begin", None)
            if callable(begin):
                guard.run(begin, training)

    def tell(self, incident: Incident) -> None:
        """Raises the alarms. Never raises an exception."""
        for alarm, guard in self._alarms:
            guard.run(alarm, incident)

    def close(self) -> None:
        """No incident will come any more."""
        for alarm, guard in self._alarms:
            close = getattr(alarm, "close", None)
            if callable(close) and callable(getattr(alarm, "begin", None)):  # not a user's object that happens to close
                guard.run(close)


def checked_alarms(on_incident: Any) -> list[Callable[[Incident], object]]:
    """The argument `on_incident` as a list, or a `TypeError` that says what it should be."""
    if on_incident is None:
        return []
    found = [on_incident] if callable(on_incident) else on_incident
    if isinstance(found, str) or not isinstance(found, Iterable):
        raise TypeError(_wrong(on_incident))
    found = list(found)
    if not all(callable(alarm) and not isinstance(alarm, type) for alarm in found):
        raise TypeError(_wrong(on_incident))
    return found


def _wrong(on_incident: Any) -> str:
    return (
        "`on_incident` must be a function that takes an Incident, an alarm of `tb_gradhealth.alarms`, or a list of "
        f"them. Received: on_incident={on_incident!r}. Write it like "
        "on_incident=[tb_gradhealth.alarms.StopTraining(), print]."
    )
