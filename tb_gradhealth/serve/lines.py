"""The lines of some variables, the band of all, and what went on in the group. Pure."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tb_gradhealth.format.windows import Array, Windows
from tb_gradhealth.serve.columns import Columns
from tb_gradhealth.serve.numbers import finite_list
from tb_gradhealth.serve.table import Table
from tb_gradhealth.serve.tiles import Values, rows_of, tile

_PERCENTILES = (5, 50, 95)
_OF_THE_GROUP = ("loss", "loss_max", "learning_rate", "global_norm", "loss_scale")


def lines(
    table: Table,
    columns: Columns,
    metric: str,
    values: Values,
    variables: Sequence[int],
    replica: int | None = None,
) -> dict[str, Any]:
    """The answer of the route ``lines``, but for its revision.

    Args:
      variables: indices, each below ``table.variables``.
      replica: the rows of this one; None: of all, the worst or the mean of them.
    """
    matrix = tile(table, columns, values, replica=replica)
    rows = np.arange(table.rows)[rows_of(table, replica)].reshape(-1, table.variables)[:, list(variables)]
    merged = _merged(columns, rows.ravel())
    shape = (len(columns), *rows.shape)
    if metric.startswith("norm_"):
        low = np.fmin.reduce(merged.norm_min.reshape(shape), axis=1)
        high = np.fmax.reduce(merged.norm_max.reshape(shape), axis=1)
        mean = _mean(merged.norm_mean.reshape(shape))
    else:
        low = mean = high = matrix.values[list(variables)].T
    return {
        "first": columns.first.tolist(),
        "last": columns.last.tolist(),
        "lines": [
            {
                "index": index,
                "min": finite_list(low[:, i]),
                "mean": finite_list(mean[:, i]),
                "max": finite_list(high[:, i]),
                "state": matrix.states[index].tolist(),
            }
            for i, index in enumerate(variables)
        ],
        "band": {f"p{p}": finite_list(v) for p, v in zip(_PERCENTILES, percentiles(matrix.values), strict=True)},
        **{name: finite_list(getattr(merged, name)) for name in _OF_THE_GROUP},
    }


def percentiles(values: Array, at: Sequence[float] = _PERCENTILES) -> list[Array]:
    """Percentiles over the finite values of each column of ``[variables, columns]``; NaN where there is none."""
    ranked = np.sort(np.where(np.isfinite(values), values, np.nan), axis=0)  # NaN comes last
    count = np.isfinite(values).sum(axis=0)
    found = []
    for percent in at:
        place = np.maximum(count - 1, 0) * (percent / 100)
        below = np.floor(place).astype(np.intp)
        above = np.minimum(below + 1, np.maximum(count - 1, 0))
        low, high = (_row(ranked, index) for index in (below, above))
        found.append(np.where(count > 0, low + (high - low) * (place - below), np.nan))
    return found


def _row(ranked: Array, index: Array) -> Array:
    if not len(ranked):
        return np.full(ranked.shape[1], np.nan)
    row: Array = np.take_along_axis(ranked, index[None], axis=0)[0].astype(np.float64)
    return row


def _merged(columns: Columns, rows: Array) -> Windows:
    """One window for each column, of some rows."""
    parts = [Windows.blank(0, len(rows))]
    places = [np.zeros(0, np.intp)]
    for block, starts, own in columns.runs():
        parts.append(block.windows(rows).merged(starts))
        places.append(own)
    together = Windows.concatenate(parts)
    if not len(together):
        return together
    return together.merged(np.flatnonzero(np.diff(np.concatenate(places), prepend=-1)))


def _mean(values: Array) -> Array:
    """Over the second axis, of what is not NaN."""
    present = ~np.isnan(values)
    count = present.sum(axis=1)
    total = np.where(present, values, 0).sum(axis=1, dtype=np.float64)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
