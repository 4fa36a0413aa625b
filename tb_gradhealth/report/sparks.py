"""The history of a variable in a few characters: which states, and how large the norm was, worst first."""

import dataclasses
from collections.abc import Iterable

import numpy as np

from tb_gradhealth.format.log import GroupLog
from tb_gradhealth.format.states import State
from tb_gradhealth.format.windows import Array, Windows

COLUMNS = 40

_BARS = "▁▂▃▄▅▆▇█"
_MARKS = {State.NAN: "✕", State.INF: "▲", State.NONE: "∅", State.ZERO: "0", State.NOT_RECORDED: "·"}
_ASCII_BARS = "_.-=+*%#"
_ASCII_MARKS = {State.NAN: "N", State.INF: "I", State.NONE: "o", State.ZERO: "0", State.NOT_RECORDED: " "}
LEGEND = "low ▁▂▃▄▅▆▇█ high (logarithmic, each variable on its own scale)   ✕ NaN  ▲ Inf  ∅ None  0 exactly zero"
ASCII_LEGEND = "low _.-=+*%# high (logarithmic, each variable on its own scale)   N NaN  I Inf  o None  0 exactly zero"
_FLAT_DECADES = 0.5
"""A norm that stays within this range is drawn in the middle, not stretched to the full height."""


@dataclasses.dataclass(frozen=True)
class Spark:
    """At most `COLUMNS` columns of equal numbers of steps.

    Attributes:
      states: the most severe `State` in each column.
      norms: the largest norm in each column, NaN where there was none.
    """

    states: tuple[int, ...]
    norms: tuple[float, ...]

    def text(self, *, ascii_only: bool = False) -> str:
        """One character for each column."""
        bars, marks = (_ASCII_BARS, _ASCII_MARKS) if ascii_only else (_BARS, _MARKS)
        heights = self._heights(len(bars))
        return "".join(
            marks[State(state)] if State(state) in marks else bars[height]
            for state, height in zip(self.states, heights, strict=True)
        )

    def _heights(self, levels: int) -> list[int]:
        norms = np.array(self.norms)
        drawn = np.array([s == State.FINITE for s in self.states], bool) & (norms > 0) & np.isfinite(norms)
        logs = np.log10(norms, out=np.zeros_like(norms), where=drawn)
        if not drawn.any():
            return [0] * len(norms)
        low, high = float(logs[drawn].min()), float(logs[drawn].max())
        if high - low < _FLAT_DECADES:
            middle = (low + high) / 2
            low, high = middle - _FLAT_DECADES / 2, middle + _FLAT_DECADES / 2
        heights = np.clip((logs - low) / (high - low) * levels, 0, levels - 1)
        return [int(h) for h in heights]


def sparks_of(group: GroupLog, variables: Iterable[int], first_step: int | None = None) -> dict[int, Spark]:
    """The history of some variables of a group, from `first_step` on, all replicas folded."""
    windows = group.windows
    if first_step is not None:
        windows = windows.select(windows.last_step >= first_step)
    wanted = list(variables)
    if not len(windows) or not wanted:
        return {}
    count, replicas = len(group.schema.variables), max(group.schema.replicas, 1)
    rows = np.array([replica * count + variable for replica in range(replicas) for variable in wanted])
    merged = _in_columns(windows.select_rows(rows))
    shape = (len(merged), replicas, len(wanted))
    states = merged.worst_state().reshape(shape).max(axis=1)
    norms = np.fmax.reduce(merged.norm_max.reshape(shape), axis=1)
    return {
        variable: Spark(tuple(states[:, i].tolist()), tuple(norms[:, i].tolist())) for i, variable in enumerate(wanted)
    }


def _in_columns(windows: Windows) -> Windows:
    if len(windows) <= COLUMNS:
        return windows
    first, last = int(windows.first_step[0]), int(windows.last_step[-1])
    edges = first + np.arange(COLUMNS) * ((last - first + 1) / COLUMNS)
    starts: Array = np.unique(np.searchsorted(windows.first_step, edges))
    return windows.merged(starts[starts < len(windows)])
