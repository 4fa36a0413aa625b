"""What every rule is: something that takes in blocks of windows and keeps episodes."""

import abc
from typing import ClassVar

import numpy as np

from tb_gradhealth.format.windows import Array
from tb_gradhealth.health import words
from tb_gradhealth.health.block import Block
from tb_gradhealth.health.episodes import Episode, Episodes
from tb_gradhealth.health.layout import Layout
from tb_gradhealth.health.stretches import Stretch
from tb_gradhealth.health.thresholds import Thresholds


class Rule(abc.ABC):
    """One rule over one group.

    A subclass says what it looks for, where that comes from, its formula and its units in its docstring. It keeps a
    state whose size does not grow with the run, and its cost per window does not either.
    """

    kind: ClassVar[str]
    """The word for the illness, one of `results.STATE_ORDER`."""
    name: ClassVar[str]
    """Which rule spoke: what `VariableHealth.rule` and `Incident.rule` say."""
    checks: ClassVar[str]
    """What it looks for, in the list of what was checked."""
    whole_group: ClassVar[bool] = False
    """Whether it is about the group as a whole: one row, which is no variable."""

    def __init__(self, layout: Layout, thresholds: Thresholds) -> None:
        self.layout = layout
        self.thresholds = thresholds
        self.first_step = -1
        self.last_step = -1
        self.steps = 0
        self.episodes = Episodes(1 if self.whole_group else layout.rows)

    def feed(self, block: Block) -> None:
        """Takes in the next windows."""
        if self.first_step < 0:
            self.first_step = int(block.windows.first_step[0])
        self.last_step = int(block.windows.last_step[-1])
        self.steps += int(block.windows.steps.sum())
        self.look(block)

    def restart(self) -> None:  # noqa: B027 - most rules compare with nothing
        """Forgets what it compares with: from here on other variables are trained than before, another training."""

    @abc.abstractmethod
    def look(self, block: Block) -> None: ...

    def observe_stretch(self, stretch: Stretch, ill: Array, begin: int | None = None) -> None:
        """Takes in that some variables were ill throughout a stretch.

        Args:
          ill: bool ``[variables]``, or ``[1]`` for a rule about the whole group.
          begin: the step at which it began, where that was earlier.
        """
        if not ill.any() and not self.episodes.active.any():
            return
        rows = ill if self.whole_group else np.tile(ill, self.layout.replicas)
        counts = np.where(rows, stretch.steps, 0)[None, :]
        first = np.array([[stretch.first_step if begin is None else begin]])
        self.episodes.observe(counts, first, np.array([stretch.steps]), np.array([stretch.last_step]))

    def now(self) -> Array:
        """bool ``[rows]``: ill at the end of what was fed."""
        return self.episodes.active

    def since(self) -> Array:
        """int ``[rows]``: first step of the present illness."""
        return self.episodes.streak_first

    def is_open(self, episode: Episode) -> bool:
        """Whether any of its rows still is ill of it."""
        rows = episode.row_array()
        index = self.episodes.all.index(episode)
        return bool((self.now()[rows] & (self.episodes.episode[rows] == index)).any())

    @abc.abstractmethod
    def severity(self, episode: Episode) -> str: ...

    def worth_telling(self, episode: Episode) -> bool:
        """Whether it has shown itself long enough for an alarm."""
        return True

    def evidence(self, episode: Episode) -> dict[str, float]:
        return {"steps": float(episode.steps), **episode.notes}

    @abc.abstractmethod
    def sentence(self, episode: Episode) -> str: ...

    def variable_evidence(self, row: int) -> dict[str, float]:
        """The numbers behind the present state of a row."""
        return {"steps": float(self.episodes.total[row])}

    def who(self, episode: Episode) -> str:
        return words.who(self.layout.names_of(episode.rows), self.layout.variables)

    def when(self, episode: Episode) -> str:
        return words.when(
            episode.first,
            episode.last,
            episode.steps,
            still=self.is_open(episode),
            from_start=episode.first == self.first_step,
        )
