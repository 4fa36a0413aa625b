"""How a step range is cut into columns to be drawn: which windows become one, and which steps a column stands for."""

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from tb_gradhealth.format.windows import Array
from tb_gradhealth.serve.table import Block


@dataclasses.dataclass(frozen=True)
class Columns:
    """Drawn columns over the windows of some blocks.

    Attributes:
      blocks: the windows, in order of steps.
      of_window: int ``[windows]``, rising, the column of each window.
      first, last: int64 ``[columns]``, the steps that each column stands for: those of its windows.
    """

    blocks: Sequence[Block]
    of_window: Array
    first: Array
    last: Array

    def __len__(self) -> int:
        return len(self.first)

    def runs(self) -> Iterator[tuple[Block, Array, Array]]:
        """For each block: the block, where in it a run of windows of one column begins, and that run's column."""
        offset = 0
        for block in self.blocks:
            own = self.of_window[offset : offset + len(block)]
            starts = np.flatnonzero(np.diff(own, prepend=-1))
            yield block, starts, own[starts]
            offset += len(block)

    @property
    def starts(self) -> Array:
        """Where in all the windows each column begins."""
        return np.flatnonzero(np.diff(self.of_window, prepend=-1))


def columns_of(blocks: Sequence[Block], first: int, last: int, count: int) -> Columns:
    """At most `count` columns over the windows that have a step in ``[first, last]``.

    Where there are no more windows than that, each is a column of its own; else the range is cut into `count` equal
    ranges of steps, each window belongs to the one in which it begins, and ranges without a window are left out.
    """
    if not blocks:
        none = np.zeros(0, np.int64)
        return Columns((), none, none, none)
    begin = np.concatenate([b.scalars.first_step for b in blocks])
    end = np.concatenate([b.scalars.last_step for b in blocks])
    if len(begin) <= count:
        return Columns(blocks, np.arange(len(begin)), begin, end)
    share = (np.maximum(begin, first) - first).astype(np.float64) / (last - first + 1)
    place = np.minimum((share * count).astype(np.int64), count - 1)
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    of_window = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(place)))
    return Columns(blocks, of_window, begin[starts], end[np.append(starts[1:], len(end)) - 1])
