"""Clipping that never stops."""

import collections

import numpy as np

from tb_gradhealth.health import words
from tb_gradhealth.health.block import Block
from tb_gradhealth.health.episodes import Episode
from tb_gradhealth.health.layout import Layout
from tb_gradhealth.health.medians import median_of_few
from tb_gradhealth.health.rules.base import Rule
from tb_gradhealth.health.stretches import STRETCH
from tb_gradhealth.health.thresholds import Thresholds


class ClippedAlways(Rule):
    """Clipping at nearly every step, so that the limit and not the gradient decides how far a step goes.

    Formula: ``clipped_steps`` in at least 95 % of the last 200 windows' steps. Known and harmless as such (many
    trainings are run that way); to watch where the norm is a hundred times the limit. No unit.
    """

    kind = "exploding"
    name = "clipping"
    checks = "clipping at nearly every step"
    whole_group = True
    _WINDOWS = 200
    _SHARE = 0.95

    def __init__(self, layout: Layout, thresholds: Thresholds) -> None:
        super().__init__(layout, thresholds)
        self._recent: collections.deque[tuple[int, int, float]] = collections.deque(maxlen=self._WINDOWS // STRETCH)
        self._open = np.zeros((0, 2), np.int64)
        self._excess = 0.0
        schema = layout.schema
        self._limit = schema.global_clip_norm if schema.HasField("global_clip_norm") else float("nan")

    def look(self, block: Block) -> None:
        counts = np.stack([block.windows.clipped_steps, block.windows.steps], axis=1)
        self._open = np.concatenate([self._open, counts])
        for stretch in block.stretches:
            done, self._open = self._open[:STRETCH].sum(axis=0).tolist(), self._open[STRETCH:].copy()
            self._recent.append((*done, stretch.total))
            clipped, steps = sum(c for c, _, _ in self._recent), sum(s for _, s, _ in self._recent)
            full = len(self._recent) == self._recent.maxlen
            always = full and clipped >= self._SHARE * steps
            if always and self._limit > 0:
                self._excess = median_of_few(t for _, _, t in self._recent) - np.log10(self._limit)
            self.observe_stretch(stretch, np.array([always]))

    def severity(self, episode: Episode) -> str:
        return "watch" if self._excess >= np.log10(self.thresholds.clip_excess) else "info"

    def evidence(self, episode: Episode) -> dict[str, float]:
        return {**super().evidence(episode), "norm_per_limit": 10**self._excess, "limit": self._limit}

    def sentence(self, episode: Episode) -> str:
        return (
            f"Nearly every step was clipped {self.when(episode)}: the usual norm is {words.number(10**self._excess)} "
            f"times the limit of {words.number(self._limit)}."
        )
