"""Everything about one variable. Pure."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tb_gradhealth.format.log import cut_back, spread, union_schema
from tb_gradhealth.format.states import State
from tb_gradhealth.format.windows import Array, Windows
from tb_gradhealth.serve.numbers import finite
from tb_gradhealth.serve.segment import Segment
from tb_gradhealth.serve.table import Table

_DETAILS = ("largest", "zero_share", "weight_norm", "update_ratio")


def variable(table: Table, flights: Sequence[Sequence[Segment]], index: int) -> dict[str, Any]:
    """The answer of the route ``variable``, but for its revision.

    Args:
      flights: the group's flight records, segment by segment, for each generation of the table.
      index: of the variable.
    """
    rows = index + table.variables * np.arange(table.replicas)
    history = Windows.concatenate([Windows.blank(0, len(rows)), *(block.windows(rows) for block in table.blocks)])
    return {
        "index": index,
        "name": table.schema.variables[index].name,
        "latest": _latest(history),
        "totals": _totals(history),
        "replicas": [_replica(history.select_rows(slice(r, r + 1)), r) for r in range(len(rows))],
        "flight": _flight(table, flights, rows),
    }


def _latest(history: Windows) -> dict[str, Any]:
    step = int(history.last_step[-1]) if len(history) else None
    norm = _worst(history.norm_last[-1]) if len(history) else None
    detailed = np.flatnonzero(history.detail_step >= 0)
    at = detailed[-1] if detailed.size else None
    details = {name: None if at is None else _worst(getattr(history, name)[at]) for name in _DETAILS}
    return {"step": step, "norm": norm, **details, "detail_step": None if at is None else int(history.detail_step[at])}


def _totals(history: Windows) -> dict[str, Any]:
    counts = {name: _most(getattr(history, f"{name}_steps")) for name in ("none", "zero", "nan", "inf", "handled")}
    norms = np.fmax.reduce(history.norm_max, axis=1, initial=np.nan)
    known = np.flatnonzero(~np.isnan(norms))
    peak = known[norms[known].argmax()] if known.size else None
    bad = history.first_bad_step[history.first_bad_step >= 0]
    return {
        "steps": int(history.steps.sum()),
        **counts,
        "norm_max": None if peak is None else finite(norms[peak]),
        "norm_max_step": None if peak is None else int(history.norm_max_step[peak][_peaks(history, peak)].min()),
        "norm_median": _median(history),
        "first_bad_step": int(bad.min()) if bad.size else None,
        "nan_elements": int(history.nan_elements.max(initial=0)),
        "inf_elements": int(history.inf_elements.max(initial=0)),
    }


def _replica(history: Windows, replica: int) -> dict[str, Any]:
    bad = history.first_bad_step[history.first_bad_step >= 0]
    return {
        "replica": replica,
        "norm_last": finite(history.norm_last[-1, 0]) if len(history) else None,
        "first_bad_step": int(bad.min()) if bad.size else None,
        **{name: int(getattr(history, f"{name}_steps").sum()) for name in ("none", "zero", "nan", "inf")},
    }


def _flight(table: Table, flights: Sequence[Sequence[Segment]], rows: Array) -> list[dict[str, Any]]:
    _, places = union_schema(table.generations)
    parts = []
    for place, segments in zip(places, flights, strict=True):
        own = np.flatnonzero(np.isin(place, rows))
        into = np.searchsorted(rows, place[own])
        parts.append(
            Windows.concatenate(
                [Windows.blank(0, len(rows)), *(spread(s.windows(rows=own), into, len(rows)) for s in segments)]
            )
        )
    flight = Windows.concatenate([Windows.blank(0, len(rows)), *cut_back(parts)]).select(slice(None, None, -1))
    _, order = np.unique(flight.first_step, return_index=True)  # of a step twice, the later
    flight = flight.select(order)
    states = np.maximum.reduce(flight.worst_state(), axis=1, initial=0)
    norms = np.fmax.reduce(flight.norm_last, axis=1, initial=np.nan)
    return [
        {
            "step": int(flight.first_step[i]),
            "state": State(int(states[i])).word,
            "norm": finite(norms[i]),
            "nan_elements": int(flight.nan_elements[i].max(initial=0)),
            "inf_elements": int(flight.inf_elements[i].max(initial=0)),
            "loss": finite(flight.loss[i]),
        }
        for i in range(len(flight))
    ]


def _worst(values: Array) -> float | None:
    """The largest over replicas, None where any has none."""
    return finite(values.max(initial=-np.inf))


def _most(counts: Array) -> int:
    """Of steps in any replica: at least as many as in the one that has most."""
    return int(counts.max(axis=1, initial=0).sum())


def _peaks(history: Windows, window: int) -> Array:
    norms: Array = history.norm_max[window]
    return np.equal(norms, np.fmax.reduce(norms))


def _median(history: Windows) -> float | None:
    """Of the windows' mean norms, each weighing as much as it has steps with a finite gradient."""
    weights = history.finite_steps().ravel()
    norms = history.norm_mean.ravel()
    sound = np.isfinite(norms) & (weights > 0)
    if not sound.any():
        return None
    order = np.argsort(norms[sound], kind="stable")
    cumulated = weights[sound][order].cumsum()
    middle = np.searchsorted(cumulated, cumulated[-1] / 2)
    return finite(norms[sound][order][middle])
