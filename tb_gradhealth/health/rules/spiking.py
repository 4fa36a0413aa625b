"""Spikes: steps whose norm stands out from everything before them.

Source: spike guards of language-model trainings (a z-score in ZClip, six deviations over 128 steps in OLMo), which
fire on heavy tails that every healthy training has. So three things must hold at once, all in decades of the norm,
against the group's last 64 windows and its whole past: it is ``spike_factor`` times the recent median, six robust
deviations above it, and three times the largest norm there ever was, the beginning included. A single variable has to
stand out ten times as much, and to carry a hundredth of the whole norm. Nothing is said in the first 32 windows.
"""

import collections

import numpy as np

from tb_gradhealth.format.windows import Array
from tb_gradhealth.health import words
from tb_gradhealth.health.block import Block
from tb_gradhealth.health.episodes import Episode
from tb_gradhealth.health.layout import Layout
from tb_gradhealth.health.rules.base import Rule
from tb_gradhealth.health.stretches import STRETCH, Stretch, middle
from tb_gradhealth.health.thresholds import Thresholds

_MEMORY = 8
_YOUNG = 4
"""Stretches before the first word."""
_ABOVE_ALL = np.log10(3.0)
_DEVIATIONS = 6.0
_LEAST_DEVIATION = 0.05
"""Decades: 12 %. A run that is smoother than this still may step by so much."""
_ALONE = 1.0
"""Decades more for a variable by itself."""
_SHARE = -2.0


class Spiking(Rule):
    """One step, or a few, far above all others."""

    kind = "spiking"
    name = "spiking"
    checks = "spikes"

    def __init__(self, layout: Layout, thresholds: Thresholds) -> None:
        super().__init__(layout, thresholds)
        self._totals: collections.deque[float] = collections.deque(maxlen=_MEMORY)
        self._levels: collections.deque[Array] = collections.deque(maxlen=_MEMORY)
        self._largest = -np.inf
        self._largest_each = np.full(layout.variables, -np.inf)
        self._pending = _Pending(-np.inf, np.full(layout.variables, -np.inf))

    def look(self, block: Block) -> None:
        """Window by window up to the end of each stretch, when what was seen becomes the past."""
        start = 0
        for stretch in block.stretches:
            end = min(start + STRETCH - (block.number + start) % STRETCH, len(block))
            self._compare(block, start, end)
            self._learn(stretch)
            start = end
        self._compare(block, start, len(block))

    def _compare(self, block: Block, low: int, high: int) -> None:
        if low == high:
            return
        logs, totals = (column[low:high] for column in block.peaks)
        spikes = np.zeros(high - low, bool)
        alone = np.zeros(logs.shape, bool)
        if len(self._totals) >= _YOUNG:
            spikes = totals > self._line()
            alone = (logs > self._lines()) & (logs >= totals[:, None] + _SHARE)
        ill = spikes | alone.any(axis=1)
        if ill.any() or self.episodes.active.any():
            self._tell(block, low, high, spikes, alone)
        quiet = ~ill
        if quiet.any():
            self._pending.raise_to(totals[quiet], logs[quiet])

    def _line(self) -> float:
        usual = middle(self._totals)
        deviation = max(1.4826 * middle(abs(total - usual) for total in self._totals), _LEAST_DEVIATION)
        step = max(np.log10(self.thresholds.spike_factor), _DEVIATIONS * deviation)
        return float(max(usual + step, self._largest + _ABOVE_ALL))

    def _lines(self) -> Array:
        usual = np.stack(self._levels)
        usual.sort(axis=0)
        step = np.log10(self.thresholds.spike_factor) + _ALONE
        lines: Array = np.maximum(usual[len(usual) // 2] + step, self._largest_each + _ALONE)
        return lines

    def _tell(self, block: Block, low: int, high: int, spikes: Array, alone: Array) -> None:
        w = block.windows
        logs, totals = (column[low:high] for column in block.peaks)
        usual = self._levels[-1] if self._levels else np.zeros(self.layout.variables)
        with np.errstate(invalid="ignore"):
            risen = logs > usual + np.log10(self.thresholds.spike_factor) / 2
        ill = alone | (spikes[:, None] & risen)
        nobody = spikes & ~ill.any(axis=1)
        ill[nobody] = ~np.isnan(logs[nobody])
        begin = w.norm_max_step[low:high, : self.layout.variables]
        repeat = (1, self.layout.replicas)
        before = len(self.episodes.all)
        self.episodes.observe(
            np.tile(ill.astype(np.int64), repeat), np.tile(begin, repeat), w.steps[low:high], w.last_step[low:high]
        )
        if len(self.episodes.all) > before:
            episode = self.episodes.all[-1]
            episode.notes["log10_norm"] = float(np.fmax.reduce(totals))
            episode.notes["log10_usual_norm"] = middle(self._totals)

    def _learn(self, stretch: Stretch) -> None:
        if not np.isnan(stretch.total):
            self._totals.append(stretch.total)
            self._levels.append(stretch.level)
            # A level that lasts for a whole stretch is the new usual, not a spike.
            self._pending.raise_to(np.array([stretch.total]), stretch.level[None])
        self._largest = max(self._largest, self._pending.total)
        self._largest_each = np.fmax(self._largest_each, self._pending.each)

    def severity(self, episode: Episode) -> str:
        return "watch"

    def sentence(self, episode: Episode) -> str:
        peak = 10 ** episode.notes.get("log10_norm", 0.0)
        usual = 10 ** episode.notes.get("log10_usual_norm", 0.0)
        return (
            f"Spike in {self.who(episode)} {self.when(episode)}: the norm of all reached {words.number(peak)}, where "
            f"{words.number(usual)} was usual."
        )


class _Pending:
    """The largest norms of the unfinished stretch, spikes left out."""

    def __init__(self, total: float, each: Array) -> None:
        self.total = total
        self.each = each

    def raise_to(self, totals: Array, logs: Array) -> None:
        self.total = float(np.fmax(self.total, np.fmax.reduce(totals)))
        self.each = np.fmax(self.each, np.fmax.reduce(logs, axis=0))
