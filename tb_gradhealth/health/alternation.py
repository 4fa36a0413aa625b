"""Whether a norm alternates from step to step: between single steps, and within windows of several.

Promises: 0 means that it does not; else the swing in decades. Memory: `MEMORY` stretches.
"""

import collections

import numpy as np

from tb_gradhealth.format.windows import Array
from tb_gradhealth.health.block import Block
from tb_gradhealth.health.medians import median_of_eight
from tb_gradhealth.health.stretches import STRETCH, Stretch

MEMORY = 4
"""Stretches that are looked at together."""
_ALTERNATION = 0.85
_TURNS = 0.9
_ODD_ONES_OUT = 2
_MOST = 0.5


class BetweenSteps:
    """The norm of all, from one single step to the next."""

    def __init__(self) -> None:
        self._sums: collections.deque[Array] = collections.deque(maxlen=MEMORY)
        self._tail = np.full(2, np.nan)
        self._open = np.zeros((STRETCH, 4))

    def terms(self, block: Block) -> Array:
        """float ``[windows, 4]``: what is to be summed up of each window."""
        single = (block.windows.steps == 1) & ~(block.windows.none_steps > 0).any(axis=1)
        x = np.concatenate([self._tail, np.where(single, block.totals, np.nan)])
        self._tail = x[-2:]
        d = np.diff(x)
        products = d[1:] * d[:-1]
        terms = np.stack([-products, d[1:] ** 2, products < 0, np.ones(len(block))], axis=1)
        terms[np.isnan(products)] = 0
        return terms

    def take(self, place: int, terms: Array) -> None:
        """Takes in the terms of the windows of the present stretch from its window `place` on."""
        self._open[place : place + len(terms)] = terms

    def close(self) -> float:
        """Ends the stretch."""
        self._sums.append(self._open.sum(axis=0))
        products, squares, turns, count = np.sum(self._sums, axis=0).tolist()
        if count < MEMORY * STRETCH - 2 or not squares > 0:
            return 0.0
        alternates = products / squares >= _ALTERNATION and turns >= _TURNS * count
        return float(np.sqrt(squares / count)) if alternates else 0.0


class WithinWindows:
    """The norm of each variable within windows of several steps. On several replicas: that of the first."""

    def __init__(self, variables: int) -> None:
        self._variables = variables
        self._open = np.full((STRETCH, 3, variables), np.nan, np.float32)
        self._closed: collections.deque[tuple[Array, Array]] = collections.deque(maxlen=MEMORY)
        self._any = False

    def signs(self, block: Block) -> Array | None:
        """float32 ``[windows, 3, variables]``; None where all windows are single steps.

        Whether the largest norm was at an even step (1 or 0), the swing in decades, and where the mean lies in it (0 to
        1); NaN for single steps, for windows with gaps and where a gradient was None.
        """
        w = block.windows
        usable = (w.steps > 1) & (w.steps == w.last_step - w.first_step + 1) & ~(w.none_steps > 0).any(axis=1)
        if not usable.any():
            return None
        low, high, mean = (column[:, : self._variables] for column in (w.norm_min, w.norm_max, w.norm_mean))
        even = w.norm_max_step[:, : self._variables] % 2 == 0
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            signs = np.stack([even, np.log10(high / low), (mean - low) / (high - low)], axis=1).astype(np.float32)
        signs[~(np.isfinite(signs).all(axis=1, keepdims=True) & usable[:, None, None]).repeat(3, axis=1)] = np.nan
        return signs

    def take(self, place: int, count: int, signs: Array | None) -> None:
        """Takes in the signs of so many windows of the present stretch from its window `place` on."""
        if signs is not None:
            self._open[place : place + count] = signs
            self._any = True

    def close(self, stretch: Stretch) -> tuple[float, Array]:
        """Ends the stretch: the median over those that alternate, 0 unless they have most of the norm; and of each."""
        nothing = 0.0, np.zeros(self._variables)
        if not self._any:
            self._closed.clear()
            return nothing
        even = self._open[:, 0]
        self._closed.append((np.stack([(even == 1).sum(axis=0), (even == 0).sum(axis=0)]), self._swing()))
        self._open[:] = np.nan
        self._any = False
        if len(self._closed) < MEMORY:
            return nothing
        alike = np.sum([parities for parities, _ in self._closed], axis=0).max(axis=0)
        swing: Array = np.min([each for _, each in self._closed], axis=0)
        swing[(alike < MEMORY * STRETCH - _ODD_ONES_OUT) | np.isnan(stretch.level)] = 0
        alternating = swing > 0
        if not alternating.any():
            return nothing
        share = float(np.sum(10.0 ** (2 * (stretch.level[alternating].astype(np.float64) - stretch.total))))
        return (float(np.median(swing[alternating])) if share >= _MOST else 0.0), swing

    def _swing(self) -> Array:
        """Decades; 0 where the mean does not lie in the middle half."""
        swing, balance = median_of_eight(self._open[None, :, 1:])[0]
        middle: Array = np.where(np.abs(balance - 0.5) <= 0.25, np.nan_to_num(swing), 0)
        return middle
