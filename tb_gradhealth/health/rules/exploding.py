"""Exploding: gradients that grow out of all proportion.

Baselines come first: a young model, a warm-up, a layer initialised with zeros may all grow a hundredfold and are well,
and norms start 20 to 10**5 times above their later level. So growth counts only above where the training began, and
only while the loss gets worse with it (a norm may grow fortyfold while the loss falls).
"""

import collections

import numpy as np

from tb_gradhealth.format.windows import Array
from tb_gradhealth.health import words
from tb_gradhealth.health.block import Block
from tb_gradhealth.health.episodes import Episode
from tb_gradhealth.health.layout import Layout
from tb_gradhealth.health.medians import median_of_few
from tb_gradhealth.health.rules.base import Rule
from tb_gradhealth.health.stretches import STRETCH, Stretch
from tb_gradhealth.health.thresholds import Thresholds

_MEMORY = 32
"""Stretches of one's own past that growth is measured against."""
_BEGINNING = 3
"""Windows whose median is where the training began."""


class Growing(Rule):
    """Grown by decades, and the loss with it.

    Source: divergence, the gradient norm rising by orders of magnitude with the loss (Pascanu et al. 2013). Formula:
    with T the median log10 norm of all variables together and T_best that of the stretch with the best loss so far,
    ``T - T_best >= growth_decades`` while the loss is worse: it has lost half of what was gained since l_0 or is three
    times l_best, and in any case is a tenth worse and not small (``|l| >= 0.1 |l_0|``; l_0 and T_0 are those of the
    first three windows); or, whatever the loss does, twice as many decades above the least T
    of the last 32 stretches, one and a half times as many where no loss is recorded. Always ``T >= T_0 + 0.5``. Unit:
    decades.
    """

    kind = "exploding"
    name = "exploding_growth"
    checks = "exploding"

    def __init__(self, layout: Layout, thresholds: Thresholds) -> None:
        super().__init__(layout, thresholds)
        self._growth = self._now = 0.0
        self.restart()

    def restart(self) -> None:
        self._past: collections.deque[float] = collections.deque(maxlen=_MEMORY)
        self._beginning: list[tuple[float, float]] = []
        self._best = np.nan, np.nan  # loss, total
        self._level = np.full(self.layout.variables, np.nan)  # of the variables, at the best loss

    def look(self, block: Block) -> None:
        self._begin(block)
        for stretch in block.stretches:
            if len(self._beginning) == _BEGINNING:
                self.observe_stretch(stretch, self._ill(stretch))

    def _begin(self, block: Block) -> None:
        missing = _BEGINNING - len(self._beginning)
        for index in range(min(missing, len(block))):
            total, loss = float(block.totals[index]), float(block.windows.loss[index])
            self._beginning.append((total, loss if np.isfinite(loss) else np.nan))
            self._level = np.fmin(self._level, block.logs[index])
            if len(self._beginning) == _BEGINNING:
                first, first_loss = self._first()
                self._past.append(first)
                self._best = first_loss, first

    def _first(self) -> tuple[float, float]:
        totals, losses = zip(*self._beginning, strict=True)
        return median_of_few(totals), median_of_few(losses)

    def _ill(self, stretch: Stretch) -> Array:
        ill = np.zeros(self.layout.variables, bool)
        if np.isnan(stretch.total):
            return ill
        first, first_loss = self._first()
        growth = self._growth_of(stretch, first_loss)
        if growth > 0 and not stretch.total < first + 0.5:
            grown = stretch.level - self._level >= growth / 2
            ill = grown if grown.any() else ~np.isnan(stretch.level)
            self._growth, self._now = growth, stretch.total
        self._past.append(stretch.total)
        if not stretch.loss >= self._best[0]:
            self._best = stretch.loss, stretch.total
            self._level = stretch.level
        return ill

    def _growth_of(self, stretch: Stretch, first_loss: float) -> float:
        """Decades by which it has grown too much; 0 where it has not."""
        needed = self.thresholds.growth_decades
        in_memory = stretch.total - np.fmin.reduce([*self._past, stretch.total])
        loss, (best, at_best) = stretch.loss, self._best
        if np.isnan(loss) or np.isnan(best):
            return float(in_memory) if in_memory >= 1.5 * needed else 0.0
        lost = max(0.1 * abs(best), min(2 * abs(best), (first_loss - best) / 2))
        worse = loss >= best + lost and not abs(loss) < 0.1 * abs(first_loss)
        if worse and stretch.total - at_best >= needed:
            return stretch.total - at_best
        return float(in_memory) if in_memory >= 2 * needed else 0.0

    def severity(self, episode: Episode) -> str:
        return "watch"

    def evidence(self, episode: Episode) -> dict[str, float]:
        return {**super().evidence(episode), "growth_decades": self._growth, "log10_norm": self._now}

    def sentence(self, episode: Episode) -> str:
        return (
            f"Exploding gradients in {self.who(episode)} {self.when(episode)}: the norm of all grew "
            f"{words.number(10**self._growth)}-fold, to {words.number(10**self._now)}."
        )


class ExplodedAtOnce(Rule):
    """Enormous from the first steps on.

    Source: recurrences and deep stacks whose Jacobians multiply, data or targets that were not scaled. Formula: the
    norm of all variables together is more than ``huge_ratio`` times their weights' norm (1 while that is not known):
    with a learning rate of 1e-3 each step would move the weights by thirty times themselves. In the first eight windows
    each counts, later the median of a stretch. What has passed within the first 16 windows was a start: harmless, and
    no alarm is given in the first eight. Unit: gradient norm per weight norm.
    """

    kind = "exploding"
    name = "exploding_at_once"
    checks = "enormous gradients"

    def __init__(self, layout: Layout, thresholds: Thresholds) -> None:
        super().__init__(layout, thresholds)
        self._weight = 1.0
        self._worst = -np.inf
        self._start_ends = -1
        self._windows = 0

    def look(self, block: Block) -> None:
        self._windows = block.number + len(block)
        if block.number < 2 * STRETCH:
            self._start_ends = int(block.windows.last_step[min(2 * STRETCH - block.number, len(block)) - 1])
        young = max(0, min(STRETCH - block.number, len(block)))
        for index in range(young):
            self._weigh(block, index)
            limit = self._limit()
            self._take(block, index, bool(block.totals[index] > limit), limit)
        limit = self._limit()
        for stretch in block.stretches:
            if stretch.number:
                huge = bool(stretch.total > limit)
                self._worst = np.fmax(self._worst, stretch.total if huge else -np.inf)
                self.observe_stretch(stretch, huge & (stretch.level > min(limit, np.fmax.reduce(stretch.level)) - 1))

    def _take(self, block: Block, index: int, huge: bool, limit: float) -> None:
        w = block.windows
        logs = block.logs[index]
        ill = huge & (logs > limit - 1)
        if ill.any() or self.episodes.active.any():
            if huge:
                self._worst = max(self._worst, float(block.totals[index]))
            counts = np.where(np.tile(ill, self.layout.replicas), w.steps[index], 0)[None, :]
            self.episodes.observe(
                counts, w.first_step[index].reshape(1, 1), w.steps[index : index + 1], w.last_step[index : index + 1]
            )

    def _weigh(self, block: Block, index: int) -> None:
        if block.windows.detail_step[index] >= 0:
            weights = block.windows.weight_norm[index, : self.layout.variables].astype(np.float64)
            self._weight = float(np.sqrt(np.nansum(np.square(weights))))

    def _limit(self) -> float:
        return float(np.log10(self.thresholds.huge_ratio * max(self._weight, 1.0)))

    def severity(self, episode: Episode) -> str:
        return "info" if episode.last <= self._start_ends and not self.is_open(episode) else "watch"

    def worth_telling(self, episode: Episode) -> bool:
        return self._windows >= STRETCH

    def evidence(self, episode: Episode) -> dict[str, float]:
        return {**super().evidence(episode), "log10_norm": self._worst, "weight_norm": self._weight}

    def sentence(self, episode: Episode) -> str:
        return (
            f"Exploding gradients in {self.who(episode)} {self.when(episode)}: a norm of "
            f"{words.number(10**self._worst)}, where the weights have {words.number(self._weight)}."
        )
