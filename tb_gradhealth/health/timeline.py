"""Which window holds a step, kept in as little as the regularity of the windows allows.

Windows of one width at one distance are one piece, however many they are: a recording that doubles its windows a dozen
times is a dozen pieces, one with a fixed width is one. What is irregular costs a piece for each window.
"""

import numpy as np

from tb_gradhealth.format.windows import Array, Windows

_LEAST = 16


class Timeline:
    """The windows of one group, in order of steps, without what was in them."""

    def __init__(self) -> None:
        self._pieces = np.zeros((_LEAST, 5), np.int64)  # first step, width, distance, steps, windows
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, windows: Windows) -> None:
        """Takes in the next windows. Cost: one pass over their scalars."""
        if not len(windows):
            return
        first, width = windows.first_step, windows.last_step - windows.first_step
        for low, high in _alike(first, width, windows.steps):
            distance = int(first[low + 1] - first[low]) if high - low > 1 else 0
            self._append(int(first[low]), int(width[low]), distance, int(windows.steps[low]), high - low)

    def holding(self, step: int) -> tuple[int, int] | None:
        """Of the window that holds a step: its last step, and how many steps it recorded; None where none does."""
        index = int(np.searchsorted(self._pieces[: self._count, 0], step, side="right")) - 1
        if index < 0:
            return None
        start, width, distance, steps, windows = self._pieces[index].tolist()
        nth = min((step - start) // distance, windows - 1) if distance else 0
        last = start + nth * distance + width
        return (last, steps) if step <= last else None

    def _append(self, first: int, width: int, distance: int, steps: int, windows: int) -> None:
        if self._count and self._continued(first, width, distance, steps, windows):
            return
        if self._count == len(self._pieces):
            self._pieces = np.concatenate([self._pieces, np.zeros_like(self._pieces)])
        self._pieces[self._count] = first, width, distance, steps, windows
        self._count += 1

    def _continued(self, first: int, width: int, distance: int, steps: int, windows: int) -> bool:
        """Whether it goes on as the last piece did, and was added to it."""
        piece = self._pieces[self._count - 1]
        begun, its_width, its_distance, its_steps, its_windows = piece.tolist()
        gap = first - (begun + (its_windows - 1) * its_distance)
        if (its_width, its_steps) != (width, steps) or {gap, its_distance or gap, distance or gap} != {gap}:
            return False
        piece[2], piece[4] = gap, its_windows + windows
        return True


def _alike(first: Array, width: Array, steps: Array) -> list[tuple[int, int]]:
    """Bounds of the runs of windows of one width, one distance and one number of steps."""
    gap = np.diff(first)
    other = np.flatnonzero((np.diff(width) != 0) | (np.diff(steps) != 0))
    turns = np.flatnonzero(np.diff(gap) != 0) + 1
    next_other = np.append(other, len(gap))[np.searchsorted(other, np.arange(len(first)))].tolist()
    next_turn = np.append(turns, len(gap))[np.searchsorted(turns, np.arange(len(first)), side="right")].tolist()
    bounds, low = [], 0
    while low < len(first):
        high = min(next_other[low], next_turn[low]) + 1
        bounds.append((low, high))
        low = high
    return bounds
