"""None: no gradient arrived.

Source: TensorFlow's `tape.gradient` answers None where no differentiable path leads from the loss to the variable.
Formula: ``none_steps > 0``, counted in steps. A variable that is None at some steps and not at others, over and over,
belongs to a layer that is used now and then: known and harmless while it stays away no longer than twice its longest
absence so far.
"""

import numpy as np

from tb_gradhealth.format.states import State
from tb_gradhealth.format.windows import Array
from tb_gradhealth.health.block import Block
from tb_gradhealth.health.episodes import Episode, Episodes
from tb_gradhealth.health.rules.base import Rule


def is_habit(episodes: Episodes) -> Array:
    """bool ``[rows]``: it comes and goes, and has not stayed longer than it used to."""
    streak = np.where(episodes.active, episodes.last_ill - episodes.streak_first + 1, 0)
    return (episodes.interruptions >= 2) & (streak <= 2 * episodes.longest + 2)


class NoGradient(Rule):
    """None for a variable that is to be trained. Bad while it lasts."""

    kind = "none"
    name = "none"
    checks = "None"

    def look(self, block: Block) -> None:
        if not block.windows.none_steps.any() and not self.episodes.active.any():
            return
        counts = np.where(self._concerned(), block.windows.none_steps, 0)
        begin = block.onset(counts, State.NONE)
        self.episodes.observe(counts, begin, block.windows.steps, block.windows.last_step, seen=block.seen)

    def _concerned(self) -> Array:
        return self.layout.trained & ~self.layout.expected_none

    def now(self) -> Array:
        return self.episodes.active & ~is_habit(self.episodes)

    def severity(self, episode: Episode) -> str:
        rows = episode.row_array()
        if is_habit(self.episodes)[rows].all():
            return "info"
        return "bad"

    def sentence(self, episode: Episode) -> str:
        if self.severity(episode) == "info":
            return f"{self.who(episode)}: no gradient (None) now and then, {self.when(episode)}; used in the others."
        return f"No gradient (None) reached {self.who(episode)} {self.when(episode)}."


class ExpectedNone(NoGradient):
    """None for a variable that the user named in ``ignore=``. Shown, never held against the run."""

    name = "expected_none"
    checks = "expected None"

    def _concerned(self) -> Array:
        return self.layout.trained & self.layout.expected_none

    def now(self) -> Array:
        return self.episodes.active

    def severity(self, episode: Episode) -> str:
        return "info"

    def sentence(self, episode: Episode) -> str:
        return f"No gradient (None) for {self.who(episode)} {self.when(episode)}, as expected (ignore=)."
