"""Zero: a gradient arrived and every element was exactly 0.

Source: a ReLU that is off for every input, an operation with a gradient of 0 (round, a saturated float16 sigmoid), a
factor that is 0. Formula: ``zero_steps > 0``, counted in steps.

Known and harmless: zeros that end within the first steps (an output layer initialised with zeros lets nothing through
at step 0); zeros that come and go (rows of an embedding that no batch holds, a unit that is off for one batch); a bias
alone whose own layer's kernel has a gradient (a loss made of derivatives does not depend on the last bias at all); and
zeros while the loss is a millionth of what it was (a hinge or triplet loss with every margin kept: nothing is left to
learn).
"""

import collections

import numpy as np

from tb_gradhealth.format.states import State
from tb_gradhealth.format.windows import Array
from tb_gradhealth.health.block import Block
from tb_gradhealth.health.episodes import Episode
from tb_gradhealth.health.layout import Layout
from tb_gradhealth.health.rules.base import Rule
from tb_gradhealth.health.rules.nothing import is_habit
from tb_gradhealth.health.thresholds import Thresholds

_TELL_STEPS = 3
_LEARNED = 1e-6


class ZeroGradient(Rule):
    """Exactly zero from the start, or for `Thresholds.zero_steps`, `start_steps` if all variables are. To watch."""

    kind = "zero"
    name = "zero"
    checks = "exact zero"

    def __init__(self, layout: Layout, thresholds: Thresholds) -> None:
        super().__init__(layout, thresholds)
        self._kernels = _kernels_beside(layout)
        self._born = np.full(layout.rows, -1, np.int64)
        self._first_loss = self._last_loss = np.nan

    def look(self, block: Block) -> None:
        self._date_births(block)
        self._note_loss(block.windows.loss)
        if not block.windows.zero_steps.any() and not self.episodes.active.any():
            return
        counts = np.where(self.layout.trained, self._everywhere(block.windows.zero_steps), 0)
        begin = block.onset(counts, State.ZERO)
        self.episodes.observe(counts, begin, block.windows.steps, block.windows.last_step, seen=block.seen)

    def _note_loss(self, loss: Array) -> None:
        known = loss[np.isfinite(loss)]
        if known.size:
            self._last_loss = float(known[-1])
            self._first_loss = self._first_loss if self._first_loss == self._first_loss else float(known[0])

    def _all_learned(self) -> bool:
        return abs(self._first_loss) > 0 and abs(self._last_loss) <= _LEARNED * abs(self._first_loss)

    def _everywhere(self, counts: Array) -> Array:
        """A replica whose share of the batch was empty has zeros; the variable is zero where every replica's is."""
        if self.layout.replicas == 1:
            return counts
        least = counts.reshape(len(counts), self.layout.replicas, -1).min(axis=1)
        return np.tile(least, (1, self.layout.replicas))

    def _date_births(self, block: Block) -> None:
        unborn = self._born < 0
        if unborn.any():
            first = block.seen.argmax(axis=0)
            self._born = np.where(unborn & block.seen.any(axis=0), block.windows.first_step[first], self._born)

    def now(self) -> Array:
        return self.episodes.active & ~is_habit(self.episodes)

    def severity(self, episode: Episode) -> str:
        rows = episode.row_array()
        rows = rows[~is_habit(self.episodes)[rows] & ~self._bias_alone(rows)]
        return "watch" if self._grave(rows).any() and not self._all_learned() else "info"

    def _grave(self, rows: Array) -> Array:
        e = self.episodes
        streak = np.where(e.active[rows], e.last_ill[rows] - e.streak_first[rows] + 1, 0)
        longest = np.maximum(streak, e.longest[rows])
        from_start = e.active[rows] & (e.streak_first[rows] == self._born[rows])
        in_start = e.last_ill[rows] - self._born[rows] < self.thresholds.start_steps
        grave: Array = from_start | ((longest >= self._patience()) & ~in_start)
        return grave

    def _patience(self) -> int:
        """Steps in a row that are an illness: fewer where no trained variable has a gradient left, for then none is
        learned from and none comes back by itself."""
        nothing_left = bool(self.episodes.active[self.layout.trained].all())
        return (
            min(self.thresholds.start_steps, self.thresholds.zero_steps) if nothing_left else self.thresholds.zero_steps
        )

    def _bias_alone(self, rows: Array) -> Array:
        """Zero though the kernel of the same layer is not."""
        active = self.episodes.active
        return np.array(
            [bool(k.size) and not active[k].any() for k in (self._kernels.get(int(r), _NONE) for r in rows)]
        )

    def worth_telling(self, episode: Episode) -> bool:
        return episode.steps >= _TELL_STEPS

    def sentence(self, episode: Episode) -> str:
        rows = episode.row_array()
        if self._bias_alone(rows).all():
            return (
                f"The gradient of {self.who(episode)} is exactly 0 {self.when(episode)}, while the same layer's "
                "kernel learns: the loss does not depend on this offset."
            )
        return f"The gradient of {self.who(episode)} was exactly 0 {self.when(episode)}."


_NONE = np.zeros(0, np.intp)


def _kernels_beside(layout: Layout) -> dict[int, Array]:
    """For each row of a bias (rank 0 or 1): the rows of the matrices of its layer."""
    variables = layout.schema.variables
    matrices = collections.defaultdict(list)
    for index, variable in enumerate(variables):
        if len(variable.shape) >= 2 and layout.trained[index]:
            matrices[variable.layer].append(index)
    beside = {}
    for index, variable in enumerate(variables):
        if len(variable.shape) < 2 and variable.layer and matrices[variable.layer]:
            for replica in range(layout.replicas):
                shift = replica * layout.variables
                beside[shift + index] = np.array(matrices[variable.layer], np.intp) + shift
    return beside
