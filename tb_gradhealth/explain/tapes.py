"""When a tape recorded: the intervals between its opening and closing, in every graph and in eager mode.

Positions are numbers of operations so far: of the graph (its `version`), or of the eager recorder. A tape that was
reset has lost what it recorded before.
"""

import dataclasses
import weakref
from typing import Any

import tensorflow as tf

from tb_gradhealth.explain.program import RECORDED

EAGER = 0
"""Stands for eager mode where a graph's id would stand."""


@dataclasses.dataclass
class Interval:
    """One stretch of recording.

    Attributes:
      where: id of the graph, or EAGER.
      start, end: first position, and the first position no longer recorded (None: still recording).
      ended_by: ``"__exit__"``, ``"stop_recording"``, ``"reset"``, ``"gradient"``.
      lost: the tape was reset later.
    """

    where: int
    start: int
    end: int | None = None
    ended_by: str = ""
    lost: bool = False

    def holds(self, position: int) -> bool:
        return self.start <= position and (self.end is None or position < self.end)


class TapeStory:
    """All intervals of one tape."""

    def __init__(self, watches_all: bool):
        self.intervals: list[Interval] = []
        self.watches_all = watches_all

    def on(self, where: int, position: int) -> None:
        self.intervals.append(Interval(where, position))

    def off(self, where: int, position: int, by: str) -> None:
        for interval in reversed(self.intervals):
            if interval.end is None:
                interval.end = position if interval.where == where else interval.start
                interval.ended_by = by
                break
        if by == "reset":
            for interval in self.intervals:
                interval.lost = True

    def start(self, where: int) -> int:
        """The first position at which it recorded there, 0 if it never did."""
        return next((interval.start for interval in self.intervals if interval.where == where), 0)

    def why_not(self, where: int, position: int) -> str:
        """Why it did not record the operation at this position; RECORDED if it did, or if nothing is known."""
        mine = [interval for interval in self.intervals if interval.where == where]
        if not mine:
            return RECORDED
        for interval in mine:
            if interval.holds(position):
                return "tape_reset" if interval.lost else RECORDED
        before = [interval for interval in mine if interval.end is not None and interval.end <= position]
        if not before:
            return "outside_tape"
        if before[-1].ended_by == "stop_recording" and before[-1] is not mine[-1]:
            return "stop_recording"
        return "after_tape" if before[-1] is mine[-1] else "outside_tape"


class Tapes:
    """The stories of the tapes that are alive."""

    def __init__(self) -> None:
        self._stories: weakref.WeakKeyDictionary[Any, TapeStory] = weakref.WeakKeyDictionary()
        self._ignored: weakref.WeakSet[Any] = weakref.WeakSet()
        self.open = 0
        """Tapes that record in eager mode right now."""

    def story(self, tape: Any) -> TapeStory | None:
        return self._stories.get(tape)

    def forget(self, tape: Any) -> None:
        """The tape counts neither as the one that was asked nor as another."""
        self._stories.pop(tape, None)
        self._ignored.add(tape)

    def on(self, tape: Any, where: int, position: int, watches_all: bool) -> None:
        if tape in self._ignored:
            return
        story = self._stories.get(tape)
        if story is None:
            story = self._stories[tape] = TapeStory(watches_all)
        story.on(where, position)

    def off(self, tape: Any, where: int, position: int, by: str) -> None:
        story = self._stories.get(tape)
        if story is not None:
            story.off(where, position, by)

    def others(self, story: TapeStory, where: int) -> list[Interval]:
        """Intervals of other tapes that are still known."""
        return [
            interval
            for other in self._stories.values()
            if other is not story
            for interval in other.intervals
            if interval.where == where
        ]


def where_now() -> tuple[int, Any]:
    """EAGER and None, or the id of the graph being built and that graph."""
    if tf.executing_eagerly():
        return EAGER, None
    graph = tf.compat.v1.get_default_graph()
    return id(graph), graph
