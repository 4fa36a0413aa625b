"""The loss scale of mixed precision."""

import numpy as np

from tb_gradhealth.health import words
from tb_gradhealth.health.block import Block
from tb_gradhealth.health.episodes import Episode
from tb_gradhealth.health.layout import Layout
from tb_gradhealth.health.rules.base import Rule
from tb_gradhealth.health.thresholds import Thresholds


class LossScaleCollapsed(Rule):
    """The loss scale has been halved until nothing of it is left.

    Source: dynamic loss scaling halves the scale at every overflow; gradients that are not finite at any scale drive it
    down for ever. Formula: ``loss_scale < 2**-10``: more than 25 halvings from its usual beginning. No unit.
    """

    kind = "overflow"
    name = "loss_scale_collapsed"
    checks = "the loss scale"
    whole_group = True
    _FLOOR = 2.0**-10

    def __init__(self, layout: Layout, thresholds: Thresholds) -> None:
        super().__init__(layout, thresholds)
        self._scale = np.nan

    def look(self, block: Block) -> None:
        w = block.windows
        low = w.loss_scale < self._FLOOR
        if low.any() or self.episodes.active.any():
            self._scale = np.fmin(self._scale, np.fmin.reduce(w.loss_scale))
            counts = np.where(low, w.steps, 0)[:, None]
            self.episodes.observe(counts, w.first_step[:, None], w.steps, w.last_step)

    def severity(self, episode: Episode) -> str:
        return "watch"

    def evidence(self, episode: Episode) -> dict[str, float]:
        return {**super().evidence(episode), "loss_scale": float(self._scale)}

    def sentence(self, episode: Episode) -> str:
        return (
            f"The loss scale has collapsed to {words.number(float(self._scale))} {self.when(episode)}: the gradients "
            "are not finite at any scale, and those updates are withheld."
        )
