"""Spikes: steps whose norm stands out from everything before them and after which all is as before.

Source: spike guards of language-model trainings (a z-score in ZClip, six deviations over 128 steps in OLMo), which
fire on heavy tails that every healthy training has. So three things must hold at once, all in decades of the norm,
against the group's last 64 windows and its whole past: it is ``spike_factor`` times the recent median, six robust
deviations above it, and three times the largest norm there ever was, the beginning included. A single variable has to
stand out ten times as much, and to carry a hundredth of the whole norm. Nothing is said in the first 64 windows, nor
where the norm stays up: a spike is told when four of the next eight windows are below that line again.
"""

import collections
import dataclasses

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

_MEMORY = 8
_YOUNG = 8
"""Stretches before the first word."""
_ABOVE_ALL = np.log10(3.0)
_DEVIATIONS = 6.0
_LEAST_DEVIATION = 0.05
"""Decades: 12 %. A run that is smoother than this still may step by so much."""
_ALONE = 1.0
"""Decades more for a variable by itself."""
_SHARE = -2.0
_RETURNED = 4


@dataclasses.dataclass(eq=False)
class _Suspect:
    """A window that stood out and has not been followed for long enough."""

    ill: Array
    begin: Array
    steps: int
    last_step: int
    total: float
    usual: float
    line: float
    lines: Array
    later: int = 0
    below: int = 0

    def follow(self, total: float, logs: Array) -> None:
        self.later += 1
        self.below += bool(total <= self.line and not (logs > self.lines).any())


class Spiking(Rule):
    """One step, or a few, far above all others."""

    kind = "spiking"
    name = "spiking"
    checks = "spikes"

    def __init__(self, layout: Layout, thresholds: Thresholds) -> None:
        super().__init__(layout, thresholds)
        self._totals: collections.deque[float] = collections.deque(maxlen=_MEMORY)
        self._levels: collections.deque[Array] = collections.deque(maxlen=_MEMORY)
        self._largest = self._pending_largest = -np.inf
        self._largest_each = np.full(layout.variables, -np.inf)
        self._pending_each = self._largest_each
        self._suspects: list[_Suspect] = []

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
        high_up = np.zeros(high - low, bool)
        if len(self._totals) >= _YOUNG:
            line = self._line()
            spikes = totals > line
            alone = (logs > self._largest_each + _ALONE) & (logs >= totals[:, None] + _SHARE)
            if alone.any() or spikes.any() or self._suspects:
                lines = self._lines()
                alone &= logs > lines
                high_up = spikes | alone.any(axis=1)
                self._follow(block, low, high, spikes, alone, line, lines)
        quiet = ~high_up
        if quiet.any():
            self._pending_largest = np.fmax(self._pending_largest, np.fmax.reduce(totals[quiet]))
            self._pending_each = np.fmax(self._pending_each, np.fmax.reduce(logs[quiet], axis=0))

    def _line(self) -> float:
        usual = median_of_few(self._totals)
        deviation = max(1.4826 * median_of_few(abs(total - usual) for total in self._totals), _LEAST_DEVIATION)
        step = max(np.log10(self.thresholds.spike_factor), _DEVIATIONS * deviation)
        return float(max(usual + step, self._largest + _ABOVE_ALL))

    def _lines(self) -> Array:
        usual = np.stack(self._levels)
        usual.sort(axis=0)
        step = np.log10(self.thresholds.spike_factor) + _ALONE
        lines: Array = np.maximum(usual[len(usual) // 2] + step, self._largest_each + _ALONE)
        return lines

    def _follow(
        self, block: Block, low: int, high: int, spikes: Array, alone: Array, line: float, lines: Array
    ) -> None:
        w = block.windows
        logs, totals = block.peaks
        risen = logs[low:high] > self._levels[-1] + np.log10(self.thresholds.spike_factor) / 2
        for offset in range(high - low):
            index = low + offset
            for suspect in self._suspects:
                suspect.follow(float(totals[index]), logs[index])
            self._judge()
            if spikes[offset] or alone[offset].any():
                ill = alone[offset] | (risen[offset] & spikes[offset])
                self._suspects.append(
                    _Suspect(
                        ill if ill.any() else ~np.isnan(logs[index]),
                        w.norm_max_step[index, : self.layout.variables],
                        int(w.steps[index]),
                        int(w.last_step[index]),
                        float(totals[index]),
                        median_of_few(self._totals),
                        line,
                        lines,
                    )
                )

    def _judge(self) -> None:
        for suspect in [s for s in self._suspects if s.below >= _RETURNED]:
            self._suspects.remove(suspect)
            self._tell(suspect)
        self._suspects = [s for s in self._suspects if s.later < STRETCH]

    def _tell(self, suspect: _Suspect) -> None:
        repeat = (1, self.layout.replicas)
        counts = np.tile(suspect.ill.astype(np.int64)[None], repeat)
        begin = np.tile(suspect.begin[None], repeat)
        self.episodes.observe(counts, begin, np.array([suspect.steps]), np.array([suspect.last_step]))
        self.episodes.observe(np.zeros_like(counts), begin, np.array([1]), np.array([suspect.last_step]))
        episode = self.episodes.all[-1]
        episode.notes["log10_norm"] = max(episode.notes.get("log10_norm", -np.inf), suspect.total)
        episode.notes.setdefault("log10_usual_norm", suspect.usual)

    def _learn(self, stretch: Stretch) -> None:
        if not np.isnan(stretch.total):
            self._totals.append(stretch.total)
            self._levels.append(stretch.level)
            # A level that lasts for a whole stretch is the new usual, not a spike.
            self._pending_largest = np.fmax(self._pending_largest, stretch.total)
            self._pending_each = np.fmax(self._pending_each, stretch.level)
        self._largest, self._largest_each = self._pending_largest, self._pending_each

    def severity(self, episode: Episode) -> str:
        return "watch"

    def sentence(self, episode: Episode) -> str:
        peak = 10 ** episode.notes.get("log10_norm", 0.0)
        usual = 10 ** episode.notes.get("log10_usual_norm", 0.0)
        return (
            f"Spike in {self.who(episode)} {self.when(episode)}: the norm of all reached {words.number(peak)}, where "
            f"{words.number(usual)} was usual."
        )
