"""A loss that is not finite while every gradient is.

Source: a loss may be Inf on a sample whose gradient TensorFlow sets to 0 (CTC without a valid path), or be computed
apart from what is differentiated. Formula: ``loss_nonfinite_steps > 0`` in a window in which no gradient was NaN or
Inf, counted in steps. To watch: training goes on, on the other samples.
"""

import abc

import numpy as np

from tb_gradhealth.format.windows import Array
from tb_gradhealth.health.block import Block
from tb_gradhealth.health.episodes import Episode
from tb_gradhealth.health.rules.base import Rule


class _LossNotFinite(Rule):
    whole_group = True

    def look(self, block: Block) -> None:
        w = block.windows
        if not w.loss_nonfinite_steps.any() and not self.episodes.active.any():
            return
        fine = ~(block.nonfinite > 0).any(axis=1)
        counts = np.where(fine & self._mine(w.loss), w.loss_nonfinite_steps, 0)[:, None]
        self.episodes.observe(counts, w.first_step[:, None], w.steps, w.last_step)

    @abc.abstractmethod
    def _mine(self, loss: Array) -> Array: ...

    def severity(self, episode: Episode) -> str:
        return "watch"

    def sentence(self, episode: Episode) -> str:
        word = "NaN" if self.kind == "nan" else "Inf"
        return f"The loss was {word} {self.when(episode)} although every gradient was finite."


class LossInfinite(_LossNotFinite):
    """The loss was Inf."""

    kind = "inf"
    name = "loss_inf"
    checks = "a loss of Inf"

    def _mine(self, loss: Array) -> Array:
        mine: Array = np.isinf(loss)
        return mine


class LossNotANumber(_LossNotFinite):
    """The loss was NaN; or not finite at some step of a window whose last loss is."""

    kind = "nan"
    name = "loss_nan"
    checks = "a loss of NaN"

    def _mine(self, loss: Array) -> Array:
        mine: Array = ~np.isinf(loss)
        return mine
