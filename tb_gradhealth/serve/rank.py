"""How the variables inside a step range differ from the rest of the run. Pure.

The score of a variable is |log10| of the ratio of its median norms inside and outside, plus `WORSE_STATE` where its
worst state inside is more severe than outside, or the same and more frequent. Medians are over the mean norms of at
most `SAMPLE` records inside and as many outside, evenly spread; states are over all of them.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from tb_gradhealth.format.states import State
from tb_gradhealth.format.windows import Array
from tb_gradhealth.serve.numbers import finite
from tb_gradhealth.serve.table import Block, Table, joined

WORSE_STATE = 4.0
SAMPLE = 1024
_WORDS = {State.NAN: "NaN", State.INF: "Inf", State.NONE: "None", State.ZERO: "exactly 0"}


def rank(table: Table, first: int, last: int) -> dict[str, Any]:
    """The answer of the route ``rank``, the most different variable first."""
    inside = _part(table, table.between(first, last))
    outside = _part(table, [part for block in table.blocks for part in _without(block, first, last)])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(np.log10(inside.norms.astype(np.float64) / outside.norms))
    score = np.where(np.isfinite(ratio), ratio, 0) + WORSE_STATE * _is_worse(inside, outside)
    order = np.lexsort((-inside.worst.astype(np.int64), -score))
    return {
        "first": first,
        "last": last,
        "variables": [
            {
                "index": int(v),
                "score": finite(score[v]),
                "state": State(int(inside.worst[v])).word,
                "inside": finite(inside.norms[v]),
                "outside": finite(outside.norms[v]),
                "why": _why(inside, outside, int(v)),
            }
            for v in order
        ],
    }


@dataclasses.dataclass(frozen=True)
class _Part:
    """What the windows of some blocks say of each variable.

    Attributes:
      steps: how many they are.
      norms: float32 ``[variables]``, median of the mean norms; NaN where there is none.
      worst: uint8 ``[variables]``, the most severe state.
      counts: of each ill state, the steps in it: int64 ``[variables]``.
    """

    steps: int
    norms: Array
    worst: Array
    counts: dict[State, Array]


def _part(table: Table, blocks: Sequence[Block]) -> _Part:
    return _Part(
        steps=int(joined([b.scalars for b in blocks]).steps.sum()),
        norms=_medians(table, blocks),
        worst=_worst(table, blocks),
        counts={state: _count(table, blocks, state) for state in _WORDS},
    )


def _is_worse(inside: _Part, outside: _Part) -> Array:
    """Whether a variable's worst state is more severe inside, or as severe and more frequent: bool ``[variables]``."""
    worse = inside.worst > outside.worst
    for state, count in inside.counts.items():
        more = count * outside.steps > outside.counts[state] * inside.steps
        worse |= (inside.worst == state) & (outside.worst == state) & more
    return worse


def _without(block: Block, first: int, last: int) -> list[Block]:
    """The windows of a block that have no step in ``[first, last]``."""
    before = int(np.searchsorted(block.scalars.last_step, first))
    after = int(np.searchsorted(block.scalars.first_step, last, side="right"))
    return [part for part in (block.part(0, before), block.part(max(after, before), len(block))) if len(part)]


def _medians(table: Table, blocks: Sequence[Block]) -> Array:
    total = sum(map(len, blocks))
    if not total:
        return np.full(table.variables, np.nan, np.float32)
    chosen = np.unique(np.linspace(0, total - 1, min(total, SAMPLE)).astype(np.intp))
    parts, offset = [], 0
    for block in blocks:
        own = chosen[(chosen >= offset) & (chosen < offset + len(block))] - offset
        parts.append(block.column("norm_mean")[own])
        offset += len(block)
    norms = np.concatenate(parts).reshape(-1, table.variables)
    ranked = np.sort(norms, axis=0)  # NaN comes last
    count = (~np.isnan(norms)).sum(axis=0)
    low, high = np.maximum(count - 1, 0) // 2, count // 2
    middle = [np.take_along_axis(ranked, np.minimum(i, len(ranked) - 1)[None], axis=0)[0] for i in (low, high)]
    with np.errstate(invalid="ignore", over="ignore"):
        medians: Array = np.where(count > 0, (middle[0] + middle[1]) / 2, np.float32(np.nan))
    return medians


def _worst(table: Table, blocks: Sequence[Block]) -> Array:
    worst = np.zeros(table.variables, np.uint8)
    for block in blocks:
        np.maximum(worst, block.worst().max(axis=0).reshape(-1, table.variables).max(axis=0), out=worst)
    return worst


def _count(table: Table, blocks: Sequence[Block], state: State) -> Array:
    """Steps in that state, in the replica that has most of them."""
    name = f"{state.name.lower()}_steps"
    counts = np.zeros(table.rows, np.int64)
    for block in blocks:
        if block.stores(name):
            counts += block.column(name).sum(axis=0, dtype=np.int64)
    most: Array = counts.reshape(-1, table.variables).max(axis=0)
    return most


def _why(inside: _Part, outside: _Part, variable: int) -> str:
    for state, word in _WORDS.items():
        here, there = int(inside.counts[state][variable]), int(outside.counts[state][variable])
        if here * outside.steps > there * inside.steps or (here and not outside.steps):
            elsewhere = f"; elsewhere at {there} of {outside.steps}" if there else "; elsewhere never"
            return f"{word} at {here} of {inside.steps} steps{elsewhere if outside.steps else ''}"
    norm, usual = float(inside.norms[variable]), float(outside.norms[variable])
    if np.isnan(norm):
        word, count = next(
            ((w, int(inside.counts[s][variable])) for s, w in _WORDS.items() if inside.counts[s][variable]), ("", 0)
        )
        return f"{word} at {count} of {inside.steps} steps, as elsewhere" if count else "no norm inside"
    if np.isnan(usual):
        return "no norm elsewhere to compare with"
    if norm == usual:
        return "as elsewhere"
    times = max(norm, usual) / min(norm, usual) if min(norm, usual) > 0 else np.inf
    factor = f": {times:.3g} times {'larger' if norm > usual else 'smaller'}" if np.isfinite(times) else ""
    return f"median norm {norm:.3g}, elsewhere {usual:.3g}{factor}"
