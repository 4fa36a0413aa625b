"""Stretches: eight successive windows as one, the unit of time of the milder rules.

A single window says little about a level, and a rule that adapts window by window is slow and depends on luck. So the
windows of a group are cut into stretches of `STRETCH`, counted from its beginning, and each becomes one row of medians.
Promises: the cuts do not depend on how the windows came; memory is one unfinished stretch.
"""

import dataclasses

import numpy as np

from tb_gradhealth.format.windows import Array, Windows
from tb_gradhealth.health.layout import Layout
from tb_gradhealth.health.medians import median_of_eight

STRETCH = 8
"""Windows: an alarm waits for no more than eight steps, and a median of eight ignores three odd ones."""


@dataclasses.dataclass(frozen=True)
class Stretch:
    """Eight windows.

    Attributes:
      number: 0 for the group's first.
      first_step, last_step, steps: what it covers.
      level: float32 ``[variables]``, log10 of the L2 norm (the mean within each window), median over the windows in
        which it was finite and not zero, NaN where there is none; the largest over the replicas.
      total: log10 of the norm of all trained variables together, median; NaN where there is none.
      loss: median of the finite ones, NaN where there is none.
    """

    number: int
    first_step: int
    last_step: int
    steps: int
    level: Array
    total: float
    loss: float


def log_norms(windows: Windows, layout: Layout, column: str = "norm_mean") -> tuple[Array, Array]:
    """log10 of a column of norms, the worst replica's.

    Returns:
      of each variable: float32 ``[windows, variables]``, NaN where it is not finite or 0; of all together: float64
      ``[windows]``, NaN where no variable has one.
    """
    norms: Array = getattr(windows, column)
    if layout.replicas > 1:
        norms = np.fmax.reduce(norms.reshape(len(windows), layout.replicas, layout.variables), axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log10(norms)
        usable = np.isfinite(logs)
        if usable.all():
            there = norms.astype(np.float64)
        else:
            logs[~usable] = np.nan
            there = np.where(usable, norms, 0).astype(np.float64)
        totals = 0.5 * np.log10(np.einsum("wv,wv->w", there, there))
    totals[~np.isfinite(totals)] = np.nan
    return logs, totals


class StretchBuilder:
    """Cuts what it is fed into stretches."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._rest: list[tuple[Array, Array, Array, Array]] = []
        self._number = 0

    def add(self, windows: Windows, logs: Array, totals: Array) -> list[Stretch]:
        """The stretches that these windows complete.

        Args:
          logs, totals: `log_norms` of them.
        """
        ends = np.stack([windows.first_step, windows.last_step, windows.steps], axis=1)
        self._rest.append((logs, totals, windows.loss, ends))
        have = sum(len(part[0]) for part in self._rest)
        whole = have // STRETCH
        if not whole:
            return []
        joined = [np.concatenate(parts) for parts in zip(*self._rest, strict=True)]
        cut = whole * STRETCH
        self._rest = [(joined[0][cut:].copy(), joined[1][cut:].copy(), joined[2][cut:].copy(), joined[3][cut:].copy())]
        return self._made(*(column[:cut].reshape(whole, STRETCH, *column.shape[1:]) for column in joined))

    def _made(self, logs: Array, totals: Array, losses: Array, ends: Array) -> list[Stretch]:
        level = median_of_eight(logs)
        total = median_of_eight(totals)
        loss = median_of_eight(np.where(np.isfinite(losses), losses, np.nan))
        made = []
        for index in range(len(logs)):
            first, last = int(ends[index, 0, 0]), int(ends[index, -1, 1])
            steps = int(ends[index, :, 2].sum())
            made.append(
                Stretch(self._number, first, last, steps, level[index], float(total[index]), float(loss[index]))
            )
            self._number += 1
        return made
