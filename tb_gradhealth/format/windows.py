"""A run's history in memory: columns over windows of steps, and how windows merge.

A window of one step is the recording of that step. Merging keeps the worst: whatever happened at any step of the
merged windows is still to be seen in the result, with its exact first step.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tb_gradhealth.format.columns import BY_NAME, ROWS, SCALARS, Column, Merge
from tb_gradhealth.format.states import State

Array = npt.NDArray[Any]
_NEVER = np.iinfo(np.int64).max


@dataclasses.dataclass(frozen=True, kw_only=True)
class Windows:
    """Successive windows of one group, in order of steps.

    Scalars have shape ``[windows]``, the others ``[windows, rows]`` with row = replica * variables + variable. Steps
    are absolute here (on disk they are offsets). Dtypes, absent values and merge rules: `columns.py`.
    """

    first_step: Array
    last_step: Array
    steps: Array
    wall_time: Array
    loss: Array
    loss_max: Array
    loss_nonfinite_steps: Array
    global_norm: Array
    global_norm_max: Array
    loss_scale: Array
    learning_rate: Array
    skipped_steps: Array
    overflow_steps: Array
    clipped_steps: Array
    record_seconds: Array
    detail_step: Array

    state_last: Array
    norm_last: Array
    norm_min: Array
    norm_max: Array
    norm_mean: Array
    norm_max_step: Array
    none_steps: Array
    zero_steps: Array
    nan_steps: Array
    inf_steps: Array
    handled_steps: Array
    nan_elements: Array
    inf_elements: Array
    first_bad_step: Array
    largest: Array
    zero_share: Array
    weight_norm: Array
    update_ratio: Array

    def __len__(self) -> int:
        return len(self.first_step)

    @property
    def row_count(self) -> int:
        """Rows per window: variables times replicas."""
        return int(self.state_last.shape[1])

    @classmethod
    def blank(cls, windows: int, rows: int) -> "Windows":
        """Windows in which nothing was recorded: every column at its absent value."""
        scalars = {c.name: np.full(windows, c.absent, c.memory) for c in SCALARS}
        columns = {c.name: np.full((windows, rows), c.absent, c.memory) for c in ROWS}
        return cls(**scalars, **columns)

    @classmethod
    def concatenate(cls, parts: Sequence["Windows"]) -> "Windows":
        """The windows of all parts, in the order given. At least one part; all of the same row count."""
        return cls(**{name: np.concatenate([getattr(p, name) for p in parts]) for name in BY_NAME})

    def select(self, index: slice | Array) -> "Windows":
        """The windows that a slice, an index array or a boolean mask selects."""
        return Windows(**{name: getattr(self, name)[index] for name in BY_NAME})

    def select_rows(self, index: slice | Array) -> "Windows":
        """The same windows with a selection of rows."""
        scalars = {c.name: getattr(self, c.name) for c in SCALARS}
        return Windows(**scalars, **{c.name: getattr(self, c.name)[:, index] for c in ROWS})

    def finite_steps(self) -> Array:
        """Steps with a finite gradient (exact zeros included): int64 ``[windows, rows]``.

        A row that was recorded at some of a window's steps only counts as finite at the others.
        """
        finite = self.steps[:, None] - self.none_steps - self.nan_steps - self.inf_steps
        return np.where(np.isnan(self.norm_max), 0, finite)

    def worst_state(self) -> Array:
        """The most severe `State` within each window: uint8 ``[windows, rows]``."""
        state = np.where(np.isnan(self.norm_max), State.NOT_RECORDED, State.FINITE).astype(np.uint8)
        for counts, value in (
            (self.zero_steps, State.ZERO),
            (self.none_steps, State.NONE),
            (self.inf_steps, State.INF),
            (self.nan_steps, State.NAN),
        ):
            state[counts > 0] = value
        return state

    def merged(self, starts: Array) -> "Windows":
        """One window for each run of windows.

        Args:
          starts: int ``[n]``, strictly rising, ``starts[0] == 0``: index of the first window of each run.

        Returns:
          `n` windows; the rules are in `columns.py`. Cost: one pass over the columns.
        """
        return _Merger(self, np.asarray(starts, np.intp)).run()


class _Merger:
    def __init__(self, windows: Windows, starts: Array) -> None:
        self._w = windows
        self._starts = starts
        self._ends = np.append(starts[1:], len(windows)) - 1
        self._lengths = self._ends - starts + 1

    def run(self) -> Windows:
        if len(self._starts) == len(self._w):
            return self._w
        return Windows(**{c.name: self._column(c) for c in SCALARS + ROWS})

    def _column(self, column: Column) -> Array:
        values: Array = getattr(self._w, column.name)
        match column.merge:
            case Merge.FIRST:
                first: Array = values[self._starts]
                return first
            case Merge.LAST:
                last: Array = values[self._ends]
                return last
            case Merge.LAST_VALID:
                return self._last_where(values, ~np.isnan(values), column)
            case Merge.SUM:
                return np.add.reduceat(values, self._starts, axis=0)
            case Merge.MIN:
                return np.fmin.reduceat(values, self._starts, axis=0)
            case Merge.MAX:
                return np.fmax.reduceat(values, self._starts, axis=0)
            case Merge.MIN_STEP:
                least = np.minimum.reduceat(np.where(values < 0, _NEVER, values), self._starts, axis=0)
                return np.where(least == _NEVER, -1, least)
            case Merge.MEAN:
                return self._mean(values)
            case Merge.AT_MAX:
                return self._at_max(values)
            case Merge.DETAIL:
                return self._last_where(values, self._w.detail_step >= 0, column)
        raise AssertionError(column)

    def _last_where(self, values: Array, valid: Array, column: Column) -> Array:
        index = np.where(valid, np.arange(len(valid)), -1)
        last = np.maximum.reduceat(index, self._starts)
        picked = values[np.maximum(last, 0)]
        picked[last < 0] = column.absent
        return picked

    def _mean(self, values: Array) -> Array:
        weight = self._w.finite_steps()
        total = np.add.reduceat(np.where(weight > 0, values, 0).astype(np.float64) * weight, self._starts, axis=0)
        count = np.add.reduceat(weight, self._starts, axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(count > 0, total / count, np.nan).astype(values.dtype)

    def _at_max(self, steps: Array) -> Array:
        peak = np.repeat(np.fmax.reduceat(self._w.norm_max, self._starts, axis=0), self._lengths, axis=0)
        first = np.minimum.reduceat(np.where(self._w.norm_max == peak, steps, _NEVER), self._starts, axis=0)
        return np.where(first == _NEVER, steps[self._starts], first)
