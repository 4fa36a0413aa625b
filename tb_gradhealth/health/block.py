"""Some successive windows of one group, with what several rules need of them computed once."""

import functools
from collections.abc import Sequence

import numpy as np

from tb_gradhealth.format.states import State
from tb_gradhealth.format.windows import Array, Windows
from tb_gradhealth.health.layout import Layout
from tb_gradhealth.health.stretches import Stretch, log_norms


class Block:
    """Windows as the rules see them.

    Attributes:
      windows: at least one, in order of steps.
      number: how many windows of the group came before.
      logs, totals: `stretches.log_norms` of the windows: ``[windows, variables]`` and ``[windows]``.
      stretches: those that these windows complete.
    """

    def __init__(
        self,
        windows: Windows,
        layout: Layout,
        number: int,
        logs: Array,
        totals: Array,
        stretches: Sequence[Stretch],
    ) -> None:
        self.windows = windows
        self.layout = layout
        self.number = number
        self.logs = logs
        self.totals = totals
        self.stretches = stretches

    def __len__(self) -> int:
        return len(self.windows)

    @functools.cached_property
    def nonfinite(self) -> Array:
        """int ``[windows, rows]``: steps with a NaN or Inf."""
        return self.windows.nan_steps + self.windows.inf_steps

    @functools.cached_property
    def any_nonfinite(self) -> bool:
        return bool(self.windows.nan_steps.any() or self.windows.inf_steps.any())

    @functools.cached_property
    def peaks(self) -> tuple[Array, Array]:
        """As `logs` and `totals`, of the largest norms within each window: the total is an upper bound."""
        if bool((self.windows.steps <= 1).all()):
            return self.logs, self.totals
        return log_norms(self.windows, self.layout, "norm_max")

    @functools.cached_property
    def seen(self) -> Array:
        """bool ``[windows, rows]``: whether the row was recorded in the window at all."""
        seen = ~np.isnan(self.windows.norm_max)
        if not seen.all():
            seen |= (self.windows.none_steps > 0) | (self.nonfinite > 0)
        return seen

    def onset(self, counts: Array, state: State) -> Array:
        """int ``[windows, rows]``: the first step of an illness that was counted but not dated.

        Exact where the illness filled the window or began in it and lasted to its end; else the window's first step.
        """
        first, last = self.windows.first_step[:, None], self.windows.last_step[:, None]
        lasts = self.windows.state_last == state
        return np.where(lasts, np.maximum(last - counts + 1, first), first)
