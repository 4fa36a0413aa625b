"""The metric `change`: a norm relative to what is usual for that variable up to there. Pure.

Usual is the median, over all earlier steps with a gradient that was finite and not 0, of the window's mean norm: the
mean of those that fall into the middle bin of a histogram with eight bins to the octave, so it is right within 9 %. It
is renewed each time the history has grown by an eighth: reading a run once costs the same per window however long the
run is.
"""

import dataclasses

import numpy as np

from tb_gradhealth.format.windows import Array
from tb_gradhealth.serve.progress import Progress
from tb_gradhealth.serve.segment import Rows
from tb_gradhealth.serve.table import Block, Table

_PER_OCTAVE = 8
_LOWEST = -64  # log2 of the smallest norm told apart
_BINS = 1024
_GROWTH = 8


@dataclasses.dataclass(frozen=True)
class Usual:
    """The usual norm of each row at every step of a table.

    Attributes:
      since: int64 ``[n]``, rising: the first step for which each of `norms` holds.
      norms: float32 ``[n, rows]``, NaN where nothing earlier is known.
    """

    since: Array
    norms: Array

    def change(self, block: Block, rows: Rows) -> Array:
        """float32 ``[windows, rows]``: norm_max over the usual norm; 1 where nothing earlier is known."""
        largest = block.column("norm_max", rows)
        usual = self.norms[:, rows][np.searchsorted(self.since, block.scalars.first_step, side="right") - 1]
        with np.errstate(over="ignore"):
            return np.where(np.isnan(usual) & np.isfinite(largest), 1, largest / usual).astype(np.float32)


class UsualNorms:
    """Follows a growing table. Not thread-safe; what it gives is."""

    def __init__(self) -> None:
        self._progress = Progress()
        self._begin(0)

    def follow(self, table: Table) -> Usual:
        """Takes in what is new in the table, and gives what is usual in it."""
        anew, blocks = self._progress.advance(table)
        if anew:
            self._begin(table.rows)
        for block in blocks:
            self._take(block)
        norms = np.stack(self._usual) if self._usual else np.zeros((0, table.rows), np.float32)
        return Usual(np.array(self._since, np.int64), norms)

    def _begin(self, rows: int) -> None:
        self._counts = np.zeros((_BINS, rows))
        self._sums = np.zeros((_BINS, rows))
        self._used = slice(0, 0)  # bins that are not all empty lie in here
        self._windows = self._renewed = 0
        self._since: list[int] = []  # first step from which on a usual norm holds
        self._usual: list[Array] = []

    def _take(self, block: Block) -> None:
        start = 0
        while start < len(block):
            if self._windows >= self._due():
                self._since.append(int(block.scalars.first_step[start]))
                self._usual.append(self._median())
                self._renewed = self._windows
            stop = min(len(block), start + self._due() - self._windows)
            self._count(block.part(start, stop))
            self._windows += stop - start
            start = stop

    def _due(self) -> int:
        """Number of windows at which the median is to be renewed."""
        return self._renewed + max(1, self._renewed // _GROWTH) if self._usual else 0

    def _count(self, block: Block) -> None:
        norms = block.column("norm_mean")
        steps = block.scalars.steps[:, None] - sum(block.column(f"{ill}_steps").astype(np.int64) for ill in _ILL)
        sound = np.isfinite(norms) & (norms > 0)
        octave = np.log2(norms, out=np.zeros_like(norms), where=sound)
        bins = np.clip(((octave - _LOWEST) * _PER_OCTAVE).astype(np.int64), 0, _BINS - 1)
        low, high = (int(bins[sound].min()), int(bins[sound].max()) + 1) if sound.any() else (0, 0)
        self._used = (
            slice(min(self._used.start, low), max(self._used.stop, high)) if self._used.stop else slice(low, high)
        )
        flat = ((bins - low) * norms.shape[1] + np.arange(norms.shape[1]))[sound]
        weights = np.maximum(np.broadcast_to(steps, norms.shape)[sound], 0)
        shape = high - low, norms.shape[1]
        for table, values in ((self._counts, weights), (self._sums, weights * norms[sound])):
            table[low:high] += np.bincount(flat, values, shape[0] * shape[1]).reshape(shape)

    def _median(self) -> Array:
        counts, sums = self._counts[self._used], self._sums[self._used]
        if not len(counts):
            return np.full(counts.shape[1], np.nan, np.float32)
        cumulated = counts.cumsum(axis=0)
        total = cumulated[-1]
        middle = (cumulated >= total / 2).argmax(axis=0)[None]
        count, norms = (np.take_along_axis(table, middle, axis=0)[0] for table in (counts, sums))
        return np.where(total > 0, norms / np.maximum(count, 1), np.nan).astype(np.float32)


_ILL = ("none", "nan", "inf", "zero")
