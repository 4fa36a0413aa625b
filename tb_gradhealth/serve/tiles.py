"""The matrix that the heatmap draws: variables × columns, worst wins. Pure.

Promises: a bad state of any step in the range is in exactly one cell of its variable, whatever the number of columns;
the cost is one pass over the metric and the states of the windows in the range.
"""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from tb_gradhealth.format.states import State
from tb_gradhealth.format.windows import Array
from tb_gradhealth.serve.columns import Columns, columns_of
from tb_gradhealth.serve.segment import Rows
from tb_gradhealth.serve.table import Block, Table

METRICS = (
    "norm_max",
    "norm_min",
    "norm_mean",
    "norm_last",
    "largest",
    "zero_share",
    "update_ratio",
    "weight_norm",
    "change",
)
MAX_CELLS = 2**24
"""Of one answer: 84 MB. Wider models get fewer columns."""

Values = Callable[[Block, Rows], Array]
"""Gives the metric of a block and some rows: float32 ``[windows, rows]``, NaN where there is none."""


@dataclasses.dataclass(frozen=True)
class Tile:
    """A drawn matrix.

    Attributes:
      first, last: int64 ``[columns]``: the steps of each column.
      values: float32 ``[variables, columns]``: the metric, NaN where there is none.
      states: uint8 ``[variables, columns]``: the most severe `State`.
    """

    first: Array
    last: Array
    values: Array
    states: Array


def columns_for(table: Table, first: int, last: int, count: int, drawn: int | None = None) -> Columns:
    """At most `count` columns over ``[first, last]``, or as many as make `MAX_CELLS` cells.

    Args:
      drawn: variables that are drawn, where they are not all.
    """
    count = max(1, min(count, MAX_CELLS // max(table.variables if drawn is None else drawn, 1)))
    return columns_of(table.between(first, last), first, last, count)


def tile(
    table: Table,
    columns: Columns,
    values: Values,
    *,
    variables: Sequence[int] | None = None,
    replica: int | None = None,
    smallest: bool = False,
) -> Tile:
    """The matrix of one metric.

    Args:
      variables: those that are drawn, in this order; None: all.
      replica: the rows of this one; None: the worst of all.
      smallest: of the windows of a column the smallest value instead of the largest.
    """
    rows = rows_of(table, replica, variables)
    drawn = table.variables if variables is None else len(variables)
    width = drawn * (table.replicas if replica is None else 1)
    pick = np.fmin if smallest else np.fmax
    metric = _reduced(columns, width, lambda block: values(block, rows), pick, np.nan, np.float32)
    states = _reduced(columns, width, lambda b: b.worst(rows), np.maximum, State.NOT_RECORDED, np.uint8)
    if replica is None and table.replicas > 1:
        fold = (len(columns), table.replicas, drawn)
        metric = pick.reduce(metric.reshape(fold), axis=1)
        states = np.maximum.reduce(states.reshape(fold), axis=1)
    return Tile(columns.first, columns.last, np.ascontiguousarray(metric.T), np.ascontiguousarray(states.T))


def stored_metric(name: str) -> Values:
    """A metric that is a column of the record."""
    return lambda block, rows: block.column(name, rows)


def rows_of(table: Table, replica: int | None, variables: Sequence[int] | None = None) -> Rows:
    """The rows of one replica, or of all, and of some variables, or of all; replica-major."""
    replicas = range(table.replicas) if replica is None else range(replica, replica + 1)
    if variables is None:
        return slice(replicas.start * table.variables, replicas.stop * table.variables)
    return (np.array(replicas)[:, None] * table.variables + np.array(variables, np.intp)).ravel()


def _reduced(
    columns: Columns,
    width: int,
    read: Callable[[Block], Array],
    pick: np.ufunc,
    absent: float,
    dtype: type,
) -> Array:
    """``[columns, width]``: what `pick` makes of the windows of each column."""
    result: Array = np.full((len(columns), width), absent, dtype)
    for block, starts, places in columns.runs():
        values = read(block)
        if len(starts) == len(block):
            result[places[1:]] = values[1:]
            result[places[0]] = pick(result[places[0]], values[0])
            continue
        ends = np.append(starts[1:], len(block))
        for start, end, place in zip(starts.tolist(), ends.tolist(), places.tolist(), strict=True):
            # measured: ten times as fast as one reduceat along the first axis
            pick(result[place], pick.reduce(values[start:end], axis=0), out=result[place])
    return result
