"""The states a gradient can be in, in order of severity. The one definition of that order."""

import enum


class State(enum.IntEnum):
    """What arrived for one variable at one step. A larger value is more severe: merging takes the maximum."""

    NOT_RECORDED = 0
    FINITE = 1
    ZERO = 2  # a gradient arrived and every element was exactly 0
    NONE = 3  # no gradient arrived
    INF = 4  # at least one Inf, no NaN
    NAN = 5  # at least one NaN

    @property
    def word(self) -> str:
        """The state as reports spell it: ``"none"``, ``"nan"``, …; ``FINITE`` is ``"ok"``."""
        return "ok" if self is State.FINITE else self.name.lower()
