"""Oscillation: the norm jumps up and down at every other step.

Source: gradient descent beyond the edge of stability, where each step overshoots (Cohen et al. 2021). Formula at single
steps: with x the log10 norm of all variables and d its differences, over 32 steps ``-sum(d[t] d[t-1]) / sum(d**2)``,
which is 0.5 for noise and 1 for a strict alternation, is at least 0.85, d changes its sign at nine of ten steps (noise:
two of three), and the root mean square of d is at least ``swing_decades``. Formula in wider windows, over 32 of them,
for each variable: the step of the largest norm is an even one in at least 30 windows, or an odd one (noise: once in
four million times), log10 of the largest by the smallest norm is at least ``swing_decades``, and the mean lies in the
middle half between them (as many steps are high as are low); these variables have most of the group's norm. Either way
the loss has not improved meanwhile by a tenth. Units: none; decades. Steps at which some variable got no gradient are
left out: layers that take turns are no oscillation.
"""

import collections

import numpy as np

from tb_gradhealth.health import words
from tb_gradhealth.health.alternation import MEMORY, BetweenSteps, WithinWindows
from tb_gradhealth.health.block import Block
from tb_gradhealth.health.episodes import Episode
from tb_gradhealth.health.layout import Layout
from tb_gradhealth.health.rules.base import Rule
from tb_gradhealth.health.stretches import STRETCH, Stretch
from tb_gradhealth.health.thresholds import Thresholds


class Oscillating(Rule):
    """Every other step overshoots."""

    kind = "oscillating"
    name = "oscillating"
    checks = "oscillation"

    def __init__(self, layout: Layout, thresholds: Thresholds) -> None:
        super().__init__(layout, thresholds)
        self._between = BetweenSteps()
        self._within = WithinWindows(layout.variables)
        self._losses: collections.deque[float] = collections.deque(maxlen=MEMORY)
        self._swing = 0.0

    def look(self, block: Block) -> None:
        terms, signs = self._between.terms(block), self._within.signs(block)
        start = 0
        for stretch in [*block.stretches, None]:
            end = min(start + STRETCH - (block.number + start) % STRETCH, len(block))
            place = (block.number + start) % STRETCH
            self._between.take(place, terms[start:end])
            self._within.take(place, end - start, None if signs is None else signs[start:end])
            start = end
            if stretch is not None:
                self._close(stretch)

    def _close(self, stretch: Stretch) -> None:
        self._losses.append(stretch.loss)
        between = self._between.close()
        within, swings = self._within.close(stretch)
        stays = not self._losses[-1] < 0.9 * self._losses[0]
        limit = self.thresholds.swing_decades
        ill = np.zeros(self.layout.variables, bool)
        if stays and between >= limit:
            ill, self._swing = ~np.isnan(stretch.level), between
        elif stays and within >= limit:
            ill, self._swing = swings >= limit, within
        self.observe_stretch(stretch, ill)

    def severity(self, episode: Episode) -> str:
        return "watch"

    def evidence(self, episode: Episode) -> dict[str, float]:
        return {**super().evidence(episode), "swing_decades": self._swing}

    def sentence(self, episode: Episode) -> str:
        return (
            f"Oscillation {self.when(episode)}: from one step to the next the norm of all jumps up and down by a "
            f"factor of {words.number(10**self._swing)}; the learning rate is too high."
        )
