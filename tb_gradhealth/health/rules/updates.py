"""How far an update moves the weights.

Source: the rule of thumb that updates should be about a thousandth of the weights. What is measured is the update that
was applied, not an estimate; only at detailed steps; kernels only, since offsets begin at zero.
"""

import abc

import numpy as np

from tb_gradhealth.format.windows import Array
from tb_gradhealth.health import words
from tb_gradhealth.health.block import Block
from tb_gradhealth.health.episodes import Episode
from tb_gradhealth.health.layout import Layout
from tb_gradhealth.health.medians import median_of_many
from tb_gradhealth.health.rules.base import Rule
from tb_gradhealth.health.thresholds import Thresholds


class _UpdateRatio(Rule):
    def __init__(self, layout: Layout, thresholds: Thresholds) -> None:
        super().__init__(layout, thresholds)
        self._ratio = np.full(layout.variables, np.nan)

    def look(self, block: Block) -> None:
        w = block.windows
        for index in np.flatnonzero(w.detail_step >= 0):
            ratio = w.update_ratio[index].astype(np.float64)
            if self.layout.replicas > 1:
                ratio = np.fmax.reduce(self.layout.fold(ratio), axis=0)
            ill = self._ill(ratio)
            if not ill.any() and not self.episodes.active.any():
                continue
            if ill.any():
                self._ratio = ratio
            counts = np.where(np.tile(ill, self.layout.replicas), w.steps[index], 0)[None, :]
            self.episodes.observe(
                counts, w.detail_step[index].reshape(1, 1), w.steps[index : index + 1], w.last_step[index : index + 1]
            )

    def _known(self, ratio: Array) -> Array:
        """Indices of the kernels that have weights and were moved at this step."""
        kernels = self.layout.kernels
        known: Array = kernels[np.isfinite(ratio[kernels]) & (ratio[kernels] > 0)]
        return known

    @abc.abstractmethod
    def _ill(self, ratio: Array) -> Array: ...

    def severity(self, episode: Episode) -> str:
        return "watch"

    def evidence(self, episode: Episode) -> dict[str, float]:
        rows = [row for row in episode.rows if row < self.layout.variables]
        known = self._ratio[rows][np.isfinite(self._ratio[rows])]
        return {**super().evidence(episode), **({"update_ratio": median_of_many(known)} if known.size else {})}


class UpdatesTooLarge(_UpdateRatio):
    """One update moves the weights by half of themselves and more.

    Formula: the median over the kernels of ``|applied update| / |weight|`` at a detailed step is at least
    ``update_ratio_high``; at the first detailed step five times as much, since the best first step on a convex problem
    may be as long as the weights themselves. No unit.
    """

    kind = "exploding"
    name = "update_ratio_high"
    checks = "updates too large for the weights"

    _FIRST = 5.0

    def __init__(self, layout: Layout, thresholds: Thresholds) -> None:
        super().__init__(layout, thresholds)
        self._looks = 0

    def _ill(self, ratio: Array) -> Array:
        ill = np.zeros(self.layout.variables, bool)
        known = self._known(ratio)
        if not known.size:
            return ill
        self._looks += 1
        limit = self.thresholds.update_ratio_high * (self._FIRST if self._looks == 1 else 1.0)
        if median_of_many(ratio[known]) >= limit:
            ill[known[ratio[known] >= limit]] = True
        return ill

    def sentence(self, episode: Episode) -> str:
        ratio = self.evidence(episode).get("update_ratio", float("nan"))
        return (
            f"Updates far too large for {self.who(episode)} {self.when(episode)}: one step moves the weights by "
            f"{words.number(ratio)} of their norm, where about 0.001 is usual; the learning rate is too high."
        )


class UpdatesTooSmall(_UpdateRatio):
    """The weights do not move: no run is long enough.

    Formula: at three detailed steps in a row the median over the kernels of ``|applied update| / |weight|`` is above 0
    and at most ``update_ratio_low``; 0 itself is a learning rate of 0, as at either end of a schedule. No unit.
    """

    kind = "vanishing"
    name = "update_ratio_low"
    checks = "updates too small for the weights"
    _PATIENCE = 3

    def __init__(self, layout: Layout, thresholds: Thresholds) -> None:
        super().__init__(layout, thresholds)
        self._lasting = 0

    def _ill(self, ratio: Array) -> Array:
        ill = np.zeros(self.layout.variables, bool)
        known = self._known(ratio)
        small = bool(known.size) and median_of_many(ratio[known]) <= self.thresholds.update_ratio_low
        self._lasting = self._lasting + 1 if small else 0
        if self._lasting >= self._PATIENCE:
            ill[known[ratio[known] <= self.thresholds.update_ratio_low]] = True
        return ill

    def sentence(self, episode: Episode) -> str:
        ratio = self.evidence(episode).get("update_ratio", float("nan"))
        return (
            f"Updates too small for {self.who(episode)} {self.when(episode)}: one step moves the weights by "
            f"{words.number(ratio)} of their norm, where about 0.001 is usual."
        )
