"""The flight recorder: the exact steps around an incident, however wide the stored windows have become. Pure NumPy."""

from tb_gradhealth.format.windows import Windows

STEPS = 64
"""Steps kept before an incident, and steps written after it."""

MAX_FLIGHTS = 32
"""Incidents of one group whose surroundings are written; later ones are still recorded as incidents."""


class FlightRecorder:
    """Remembers the last `STEPS` single steps and says which to write.

    Promises: no step is handed out twice; at most `MAX_FLIGHTS` incidents are written.
    """

    def __init__(self) -> None:
        self._recent: Windows | None = None
        self._after = 0
        self.number = -1
        """Number of the flight that is being written."""

    def add(self, steps: Windows, incident: bool, already_stored: bool) -> Windows | None:
        """Takes in new steps and returns those to write now, or None.

        Args:
          steps: single-step windows (wider ones are passed over: their steps are gone).
          incident: an incident was announced on these steps.
          already_stored: the records themselves still hold single steps, so there is nothing to add.
        """
        steps = steps.select(steps.steps == 1)
        if already_stored:
            self._recent, self._after = None, STEPS if incident else max(self._after - len(steps), 0)
            return None
        chosen: list[Windows] = []
        if self._after and len(steps):
            chosen.append(steps.select(slice(0, self._after)))
        later = steps.select(slice(self._after, None))
        self._after = max(self._after - len(steps), 0)
        recent = later if self._recent is None else Windows.concatenate([self._recent, later])
        if incident and self.number + 1 < MAX_FLIGHTS:
            if not chosen:
                self.number += 1
            chosen.append(recent)  # up to STEPS from before this portion, and all of it
            recent = recent.select(slice(0, 0))
            self._after = STEPS
        self._recent = recent.select(slice(-STEPS, None))
        found = Windows.concatenate(chosen) if chosen else None
        if found is not None and self.number < 0:
            self.number = 0
        return found if found is not None and len(found) else None
