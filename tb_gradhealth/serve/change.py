"""The metric `change`: a norm relative to what is usual for that variable up to there. Pure.

Usual is the median, over all earlier steps with a gradient that was finite and not 0, of the window's mean norm, as
`histogram.py` has it. It is renewed each time the history has grown by an eighth, and of the windows between two
renewals at most about `SAMPLE`, evenly spread, are looked at: where they are all, it is right within 7 %.
"""

import dataclasses

import numpy as np

from tb_gradhealth.format.windows import Array
from tb_gradhealth.serve.histogram import Histograms
from tb_gradhealth.serve.progress import Progress
from tb_gradhealth.serve.segment import Rows
from tb_gradhealth.serve.table import Block, Table

SAMPLE = 64
_GROWTH = 8
_ILL = ("none_steps", "nan_steps", "inf_steps", "zero_steps")


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
        self._norms = Histograms(rows)
        self._windows = self._renewed = 0
        self._since: list[int] = []  # first step from which on a usual norm holds
        self._usual: list[Array] = []

    def _take(self, block: Block) -> None:
        start = 0
        while start < len(block):
            if self._windows >= self._due():
                self._since.append(int(block.scalars.first_step[start]))
                self._usual.append(self._norms.median())
                self._renewed = self._windows
            stop = min(len(block), start + self._due() - self._windows)
            self._count(block.part(start, stop), max(1, (self._due() - self._renewed) // SAMPLE))
            self._windows += stop - start
            start = stop

    def _due(self) -> int:
        """Number of windows at which the median is to be renewed."""
        return self._renewed + max(1, self._renewed // _GROWTH) if self._usual else 0

    def _count(self, block: Block, stride: int) -> None:
        """Every `stride`-th window of the history, counted so many times."""
        chosen = slice(-self._windows % stride, None, stride)
        steps = block.scalars.steps[chosen, None] * stride
        ill = [block.column(name)[chosen] for name in _ILL if block.stores(name)]
        weights = np.maximum(steps - stride * sum(column.astype(np.int64) for column in ill), 0) if ill else steps
        self._norms.add(block.column("norm_mean")[chosen], weights)
