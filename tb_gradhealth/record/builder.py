"""From single steps to the windows that are stored: fixed ones, or windows that double. Pure NumPy.

With ``every="auto"`` the first `SEGMENT_RECORDS` records are single steps, and after each `SEGMENT_RECORDS` records
the width doubles: 1 M steps make about 6,000 records, 100 M about 9,500.
"""

import numpy as np

from tb_gradhealth.format.tags import SEGMENT_RECORDS
from tb_gradhealth.format.windows import Array, Windows

AUTO = "auto"


class WindowBuilder:
    """Collects steps and hands out complete windows.

    Args:
      every: ``"auto"``, or the width of every window in steps.

    Promises: every step given is in exactly one window handed out or still pending; windows come out in order of steps.
    """

    def __init__(self, every: int | str = AUTO) -> None:
        self._auto = every == AUTO
        self._width = 1 if self._auto else int(every)
        self._room = SEGMENT_RECORDS  # records until the width doubles
        self._pending: Windows | None = None

    @property
    def width(self) -> int:
        """Steps in the window being built."""
        return self._width

    @property
    def pending_steps(self) -> int:
        """Steps given and not yet handed out."""
        return 0 if self._pending is None else int(self._pending.steps[0])

    def add(self, windows: Windows) -> Windows:
        """Adds windows (mostly of one step each) and returns those now complete, perhaps none.

        A window wider than those being built stays whole.
        """
        if self._pending is not None:
            windows = Windows.concatenate([self._pending, windows])
            self._pending = None
        done = [windows.select(slice(0, 0))]
        while len(windows):
            if self._width == 1:
                taken = len(windows) if not self._auto else min(self._room, len(windows))
                done.append(windows.select(slice(0, taken)))
            else:
                starts, taken = self._starts(windows)
                if taken == 0:
                    self._pending = windows.merged(np.array([0]))
                    break
                done.append(windows.select(slice(0, taken)).merged(starts))
            windows = windows.select(slice(taken, None))
            self._count(len(done[-1]))
        return Windows.concatenate(done)

    def take_pending(self) -> Windows | None:
        """The incomplete window, which is then no longer pending; None if there is none."""
        pending, self._pending = self._pending, None
        if pending is not None:
            self._count(1)
        return pending

    def _starts(self, windows: Windows) -> tuple[Array, int]:
        """Where the complete windows begin, at most as many as there is room for, and how many inputs they take."""
        total = np.cumsum(windows.steps)
        starts: list[int] = []
        taken = base = 0
        while not self._auto or len(starts) < self._room:
            end = int(np.searchsorted(total, base + self._width))
            if end >= len(windows):
                break
            starts.append(taken)
            taken, base = end + 1, int(total[end])
        return np.array(starts, np.intp), taken

    def _count(self, records: int) -> None:
        if not self._auto:
            return
        self._room -= records
        if self._room <= 0:
            self._room = SEGMENT_RECORDS
            self._width *= 2
