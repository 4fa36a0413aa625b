"""Vanishing: gradients too small to matter, never by an absolute number.

A tiny norm alone is no illness: a bias before BatchNorm, an attention's key bias and every other direction that the
loss does not depend on have norms of 1e-11 to 1e-6 for ever, and a training that has converged has small norms
everywhere. So the rules here compare with the group's other variables, with depth, with the loss and with the
variable's own past. They look at kernels (two dimensions and more) and at medians over stretches.
"""

import abc
import collections

import numpy as np

from tb_gradhealth.format.windows import Array
from tb_gradhealth.health import words
from tb_gradhealth.health.block import Block
from tb_gradhealth.health.episodes import Episode
from tb_gradhealth.health.layout import Layout
from tb_gradhealth.health.medians import median_of_many
from tb_gradhealth.health.rules.base import Rule
from tb_gradhealth.health.stretches import Stretch
from tb_gradhealth.health.thresholds import Thresholds

PATIENCE = 3
"""Stretches in a row: a start with zero-initialised layers is over by then."""
_ALONE = 1.0
"""Decades more where a single kernel is starved."""
_MEMORY = 8
"""Stretches for which the level of a kernel that is zero meanwhile holds."""


class _Vanishing(Rule):
    kind = "vanishing"

    def __init__(self, layout: Layout, thresholds: Thresholds) -> None:
        super().__init__(layout, thresholds)
        self._lasting = np.zeros(layout.variables, np.int64)
        self._begin: collections.deque[int] = collections.deque(maxlen=PATIENCE)

    def look(self, block: Block) -> None:
        for stretch in block.stretches:
            self._begin.append(stretch.first_step)
            ill = self.ill_in(stretch)
            self._lasting = np.where(ill, self._lasting + 1, 0)
            self.observe_stretch(stretch, self._lasting >= PATIENCE, self._begin[0])
            if ill.any() and self.episodes.all:
                self.note(self.episodes.all[-1], stretch)

    @abc.abstractmethod
    def ill_in(self, stretch: Stretch) -> Array:
        """bool ``[variables]``."""

    def note(self, episode: Episode, stretch: Stretch) -> None:
        """Writes evidence."""

    def severity(self, episode: Episode) -> str:
        return "watch"


class VanishingWithDepth(_Vanishing):
    """Nothing reaches the first layers.

    Source: gradients of deep sigmoid or tanh stacks shrink by a constant factor in each layer (Hochreiter 1991; Glorot
    and Bengio 2010). Formula: with L the median log10 norm of a variable and M the largest L of the group, the first
    kernels are ill as long as every one of them has ``L <= M - vanishing_decades``; there must be at least two of
    them, or the first alone must lie another decade below (a recurrence that forgets what came first). A kernel that
    is exactly zero now and then is judged by the steps at which it is not. Embeddings do not count: few of their rows
    are used at a step. In healthy networks of every depth the input side stays within two decades of M, although
    single kernels in the middle (an attention's query and key) may lie four below it. Unit: decades.
    """

    name = "vanishing_depth"
    checks = "vanishing with depth"

    def __init__(self, layout: Layout, thresholds: Thresholds) -> None:
        super().__init__(layout, thresholds)
        self._level = np.full(layout.variables, np.nan)
        self._age = np.zeros(layout.variables, np.int64)

    def ill_in(self, stretch: Stretch) -> Array:
        ill = np.zeros(self.layout.variables, bool)
        kernels = self.layout.depth
        if len(kernels) < 2 or np.isnan(stretch.total):
            return ill
        self._remember(stretch.level)
        limit = np.fmax.reduce(stretch.level) - self.thresholds.vanishing_decades
        levels = self._level[kernels]
        known = ~np.isnan(levels)
        above = known & (levels > limit)
        end = int(above.argmax()) if above.any() else len(kernels)
        starved = known[:end]
        if starved.sum() < 2 and not (levels[:end] <= limit - _ALONE).any():
            return ill
        last = kernels[:end][starved][-1]
        order = self.layout.order
        reach = self.layout.kernels[order[self.layout.kernels] <= order[last]]
        ill[reach[self._level[reach] <= limit]] = True
        return ill

    def _remember(self, level: Array) -> None:
        known = ~np.isnan(level)
        self._age = np.where(known, 0, self._age + 1)
        self._level = np.where(known, level, np.where(self._age > _MEMORY, np.nan, self._level))

    def note(self, episode: Episode, stretch: Stretch) -> None:
        rows = [row for row in episode.rows if row < self.layout.variables]
        if rows:
            episode.notes["decades_below_largest"] = float(
                np.fmax.reduce(stretch.level) - np.fmin.reduce(stretch.level[rows])
            )

    def sentence(self, episode: Episode) -> str:
        decades = episode.notes.get("decades_below_largest", self.thresholds.vanishing_decades)
        return (
            f"Vanishing gradients: hardly anything reaches {self.who(episode)} {self.when(episode)}; the norm is down "
            f"to {words.number(10**-decades)} of the largest in the group."
        )


class Faded(_Vanishing):
    """A layer that used to learn and no longer does, while the others go on.

    Source: saturation and dying of single layers. Formula: with D the drop of a kernel's median log10 norm from the
    largest it ever had, it is ill where ``D - median of D over the group's kernels >= fading_decades``. Unit: decades.
    """

    name = "vanishing_past"
    checks = "vanishing against its own past"

    def __init__(self, layout: Layout, thresholds: Thresholds) -> None:
        super().__init__(layout, thresholds)
        self._peak = np.full(layout.variables, -np.inf)
        self._drop = np.zeros(layout.variables)

    def ill_in(self, stretch: Stretch) -> Array:
        ill = np.zeros(self.layout.variables, bool)
        self._peak = np.fmax(self._peak, stretch.level)
        kernels = self.layout.kernels
        drop = self._peak[kernels] - stretch.level[kernels]
        known = np.isfinite(drop)
        if known.sum() < 3:
            return ill
        relative = drop - median_of_many(drop)
        self._drop[kernels] = relative
        ill[kernels] = known & (relative >= self.thresholds.fading_decades)
        return ill

    def note(self, episode: Episode, stretch: Stretch) -> None:
        rows = [row for row in episode.rows if row < self.layout.variables]
        episode.notes["decades_lost"] = float(np.fmax.reduce(self._drop[rows])) if rows else 0.0

    def sentence(self, episode: Episode) -> str:
        lost = episode.notes.get("decades_lost", self.thresholds.fading_decades)
        return (
            f"The gradient of {self.who(episode)} has faded {self.when(episode)}: it lost {words.number(lost)} decades "
            "more than the other layers did."
        )


class Saturated(_Vanishing):
    """The whole gradient is gone although there is loss left.

    Source: saturated output activations under a squared loss, softmax far out on its flat arms. Formula: with T the
    median log10 norm of all variables together, l the loss, l_0 and T_0 those of the first stretch and T_best that of
    the stretch with the best loss so far: either T has fallen by ``saturation_decades``, below T_best while the loss
    got worse (``l >= l_best + |l_best| / 2`` and ``|l| >= 0.1 |l_0|``) or below T_0 while it never fell by a tenth; or
    from the start ``T - log10|l| <= -flat_decades``, that is a step of size 1 against the gradient would not change the
    loss visibly, and it has not fallen by a tenth. Unit: decades.
    """

    name = "vanishing_flat"
    checks = "a flat loss surface"

    def __init__(self, layout: Layout, thresholds: Thresholds) -> None:
        super().__init__(layout, thresholds)
        self.restart()

    def restart(self) -> None:
        self._first = self._best = (np.nan, np.nan)  # loss, total
        self._flat_from_start = True

    def ill_in(self, stretch: Stretch) -> Array:
        total, loss = stretch.total, stretch.loss
        seen = ~np.isnan(stretch.level)
        if np.isnan(total) or np.isnan(loss) or loss == 0:
            return np.zeros_like(seen)
        if np.isnan(self._first[0]):
            self._first = self._best = (loss, total)
        if loss < self._best[0]:
            self._best = (loss, total)
        self._flat_from_start &= bool(total - np.log10(abs(loss)) <= -self.thresholds.flat_decades)
        return seen & self._is_flat(total, loss)

    def _is_flat(self, total: float, loss: float) -> bool:
        (first, total_first), (best, total_best) = self._first, self._best
        if loss >= first - 0.1 * abs(first):
            return self._flat_from_start or total <= total_first - self.thresholds.saturation_decades
        worse = loss >= best + abs(best) / 2 and abs(loss) >= 0.1 * abs(first)
        return worse and total <= total_best - self.thresholds.saturation_decades

    def note(self, episode: Episode, stretch: Stretch) -> None:
        episode.notes["log10_norm"] = stretch.total
        episode.notes["loss"] = stretch.loss

    def sentence(self, episode: Episode) -> str:
        norm, loss = episode.notes.get("log10_norm", float("nan")), episode.notes.get("loss", float("nan"))
        return (
            f"The gradient of {self.who(episode)} has vanished {self.when(episode)} though the loss has not: norm "
            f"{words.number(10**norm)} at a loss of {words.number(loss)}; something is saturated."
        )
