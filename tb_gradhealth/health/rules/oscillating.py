"""Oscillation: the norm jumps up and down at every other step.

Source: gradient descent beyond the edge of stability, where each step overshoots (Cohen et al. 2021). Formula: with x
the log10 norm of all variables at single steps and d its differences, over 32 steps ``-sum(d[t] d[t-1]) / sum(d**2)``,
which is 0.5 for noise and 1 for a strict alternation, is at least 0.85, d changes its sign at nine of ten steps (noise:
two of three), the root mean square of d is at least ``swing_decades``, and the loss has not improved meanwhile by a
tenth. Units: none; decades. Steps at which some
variable got no gradient are left out: layers that take turns are no oscillation. Wide windows cannot show it.
"""

import collections

import numpy as np

from tb_gradhealth.format.windows import Array
from tb_gradhealth.health import words
from tb_gradhealth.health.block import Block
from tb_gradhealth.health.episodes import Episode
from tb_gradhealth.health.layout import Layout
from tb_gradhealth.health.rules.base import Rule
from tb_gradhealth.health.stretches import STRETCH, Stretch
from tb_gradhealth.health.thresholds import Thresholds

_MEMORY = 4
_ALTERNATION = 0.85
_TURNS = 0.9


class Oscillating(Rule):
    """Every other step overshoots."""

    kind = "oscillating"
    name = "oscillating"
    checks = "oscillation"

    def __init__(self, layout: Layout, thresholds: Thresholds) -> None:
        super().__init__(layout, thresholds)
        self._sums: collections.deque[Array] = collections.deque(maxlen=_MEMORY)
        self._losses: collections.deque[float] = collections.deque(maxlen=_MEMORY)
        self._tail = np.full(2, np.nan)
        self._open = np.zeros(4)
        self._alternation = self._swing = 0.0

    def look(self, block: Block) -> None:
        single = (block.windows.steps == 1) & ~(block.windows.none_steps > 0).any(axis=1)
        x = np.concatenate([self._tail, np.where(single, block.totals, np.nan)])
        self._tail = x[-2:]
        d = np.diff(x)
        known = ~np.isnan(d[1:] + d[:-1])
        products = d[1:] * d[:-1]
        terms = np.stack([-products, d[1:] ** 2, products < 0, np.ones(len(block))], axis=1)
        terms[~known] = 0
        start = 0
        for stretch in block.stretches:
            end = min(start + STRETCH - (block.number + start) % STRETCH, len(block))
            self._open = self._open + terms[start:end].sum(axis=0)
            self._close(stretch)
            start = end
        self._open = self._open + terms[start:].sum(axis=0)

    def _close(self, stretch: Stretch) -> None:
        self._sums.append(self._open)
        self._losses.append(stretch.loss)
        self._open = np.zeros(4)
        products, squares, turns, count = np.sum(self._sums, axis=0).tolist()
        swings = False
        if count >= _MEMORY * STRETCH - 2 and squares > 0:
            alternation, swing = products / squares, float(np.sqrt(squares / count))
            worse = not self._losses[-1] < 0.9 * self._losses[0]
            strict = alternation >= _ALTERNATION and turns >= _TURNS * count
            swings = strict and swing >= self.thresholds.swing_decades and worse
            if swings:
                self._alternation, self._swing = alternation, swing
        self.observe_stretch(stretch, swings & ~np.isnan(stretch.level))

    def severity(self, episode: Episode) -> str:
        return "watch"

    def evidence(self, episode: Episode) -> dict[str, float]:
        return {**super().evidence(episode), "alternation": self._alternation, "swing_decades": self._swing}

    def sentence(self, episode: Episode) -> str:
        return (
            f"Oscillation {self.when(episode)}: from one step to the next the norm of all jumps up and down by a "
            f"factor of {words.number(10**self._swing)}; the learning rate is too high."
        )
