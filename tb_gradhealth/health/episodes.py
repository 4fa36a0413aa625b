"""From "these rows were ill in that window" to incidents: one bookkeeping for every rule.

Promises: an ill row is in exactly one episode at a time; rows that turn ill within a few steps of each other share
one, first ill first; a row that falls ill again soon after, measured against how long the episode has lasted, continues
it; there are never more than `MAX_EPISODES`, after which the last one takes what comes. The state does not grow with
the run, and the result does not depend on how the windows were cut into calls.
"""

import dataclasses
import itertools

import numpy as np

from tb_gradhealth.format.windows import Array

MAX_EPISODES = 48
JOIN_STEPS = 16
"""A NaN reaches the other variables within a step or two, an explosion within some; later is a story of its own."""
GAP_STEPS = 64


@dataclasses.dataclass(eq=False)
class Episode:
    """An incident in the making. Steps are absolute."""

    first: int
    last: int
    newest: int  # the step at which a row joined last
    steps: int = 0
    rows: dict[int, None] = dataclasses.field(default_factory=dict)  # in order of falling ill
    notes: dict[str, float] = dataclasses.field(default_factory=dict)  # the rule's evidence
    announced: bool = False
    touched: bool = True  # since somebody last looked

    def row_array(self) -> Array:
        return np.fromiter(self.rows, np.intp, len(self.rows))


class Episodes:
    """The episodes of one kind of illness in one group.

    Attributes:
      all: oldest first.
      active: bool ``[rows]``, ill in the latest window that recorded the row.
      episode: int ``[rows]``, index into `all` of the latest episode of the row, -1 for none.
      streak_first: int ``[rows]``, first step of the latest unbroken illness.
      last_ill: int ``[rows]``, -1 for never.
      longest: int ``[rows]``, steps of the longest illness that ended by itself.
      interruptions: int ``[rows]``, how often an illness ended.
      total: int ``[rows]``, ill steps ever.
    """

    def __init__(self, rows: int, gap_steps: int = GAP_STEPS, join_steps: int = JOIN_STEPS) -> None:
        self._gap = gap_steps
        self._join = join_steps
        self._width = 1
        self.all: list[Episode] = []
        self.active = np.zeros(rows, bool)
        self.episode = np.full(rows, -1, np.int64)
        self.streak_first = np.full(rows, -1, np.int64)
        self.last_ill = np.full(rows, -1, np.int64)
        self.longest = np.zeros(rows, np.int64)
        self.interruptions = np.zeros(rows, np.int64)
        self.total = np.zeros(rows, np.int64)

    def observe(
        self, counts: Array, begin: Array, steps: Array, last_step: Array, *, seen: Array | None = None
    ) -> None:
        """Takes in successive windows.

        Args:
          counts: int ``[windows, rows]``, ill steps; 0: not ill.
          begin: int ``[windows, rows]``, first ill step where `counts` is positive, or ``[windows, 1]``.
          steps: int ``[windows]``, steps recorded.
          last_step: int ``[windows]``.
          seen: bool ``[windows, rows]``, whether the row was recorded; None: all were. What was not seen changes
            nothing.
        """
        ill = counts > 0
        if not self.active.any() and not ill.any():
            return
        begin = np.broadcast_to(begin, ill.shape)
        if seen is not None and not seen.all():
            ill = self._carried(ill, seen)
        partial = ill & (counts > 0) & (counts < steps[:, None])
        cuts = np.flatnonzero((ill[1:] != ill[:-1]).any(axis=1) | partial[1:].any(axis=1) | partial[:-1].any(axis=1))
        edges = [0, *(cuts + 1).tolist(), len(ill)]
        for low, high in itertools.pairwise(edges):
            self._width = int(steps[low])
            self._segment(ill[low], partial[low], counts[low:high], begin[low], last_step[low:high])

    def _carried(self, ill: Array, seen: Array) -> Array:
        carried = np.empty_like(ill)
        before = self.active
        for index in range(len(ill)):
            before = carried[index] = np.where(seen[index], ill[index], before)
        return carried

    def _segment(self, ill: Array, partial: Array, counts: Array, begin: Array, last_step: Array) -> None:
        ended = self.active & ~ill
        if ended.any():
            streak = self.last_ill - self.streak_first + 1
            self.longest[ended] = np.maximum(self.longest[ended], streak[ended])
            self.interruptions[ended] += 1
        started = np.flatnonzero(ill & ~self.active)
        self.active = ill.copy()
        if started.size:
            self.streak_first[started] = begin[started]
            self._enter(started, begin[started])
        if not ill.any():
            return
        self._count(ill, counts, last_step)
        if partial.any():
            self._interrupted(np.flatnonzero(partial), started, counts[0], int(last_step[0]))

    def _count(self, ill: Array, counts: Array, last_step: Array) -> None:
        self.total += counts.sum(axis=0)
        windows_ill = counts > 0
        latest = windows_ill.shape[0] - 1 - np.argmax(windows_ill[::-1], axis=0)
        self.last_ill = np.where(windows_ill.any(axis=0), last_step[latest], self.last_ill)
        for index in np.unique(self.episode[ill]):
            episode = self.all[index]
            mine = ill & (self.episode == index)
            episode.touched = True
            episode.steps += int(counts[:, mine].max(axis=1).sum())
            episode.last = max(episode.last, int(self.last_ill[mine].max()))

    def _interrupted(self, rows: Array, started: Array, counts: Array, last: int) -> None:
        """The row was ill at some of the window's steps and not at others."""
        onset = np.isin(rows, started)
        self.interruptions[rows[~onset]] += 1
        self.longest[rows] = np.maximum(self.longest[rows], counts[rows])
        self.streak_first[rows] = last - counts[rows] + 1  # as long as it can have been, wherever it lay

    def _enter(self, rows: Array, begin: Array) -> None:
        for step in np.unique(begin):
            self._enter_at(rows[begin == step], int(step))

    def _enter_at(self, rows: Array, step: int) -> None:
        previous = self.episode[rows]
        again = np.zeros(len(rows), bool)
        for index in np.unique(previous[previous >= 0]):
            episode = self.all[index]
            mine = rows[previous == index]
            soon = step - self.last_ill[mine] <= max(self._gap, 4 * self._width, episode.last - episode.first + 1)
            again[np.isin(rows, mine[soon])] = True
        rows = rows[~again]
        if not rows.size:
            return
        last = self.all[-1] if self.all else None
        if last is None or (step - last.newest > max(self._join, 2 * self._width) and len(self.all) < MAX_EPISODES):
            last = Episode(first=step, last=step, newest=step)
            self.all.append(last)
        last.newest = max(last.newest, step)
        last.rows.update(dict.fromkeys(rows.tolist()))
        self.episode[rows] = len(self.all) - 1
