"""The list of trainings, and its parts."""

import dataclasses
import hashlib
from collections.abc import Callable

from verdict_trainings.log import Log


@dataclasses.dataclass(frozen=True)
class Training:
    """One training.

    Attributes:
      kinds: kinds of incident that are a right answer; empty: it is healthy.
      onset: the step at which the illness begins, 0: from the start.
      learns: whether the loss is expected to fall (a GAN's need not).
      fresh: whether it was written when the rules had been tuned on the others.
    """

    name: str
    run: Callable[[Log], None]
    kinds: frozenset[str]
    onset: int
    learns: bool
    fresh: bool

    @property
    def ill(self) -> bool:
        return bool(self.kinds)

    @property
    def half(self) -> str:
        """``"tune"`` or ``"test"``, by a hash of the name: nobody chose; or ``"fresh"``."""
        if self.fresh:
            return "fresh"
        return "test" if hashlib.sha256(self.name.encode()).digest()[0] % 2 else "tune"


TRAININGS: dict[str, Training] = {}


def healthy(*, learns: bool = True) -> Callable[[Callable[[Log], None]], Callable[[Log], None]]:
    return _adding(frozenset(), 0, learns)


def ill(*kinds: str, onset: int = 0) -> Callable[[Callable[[Log], None]], Callable[[Log], None]]:
    """`kinds`: what happens to the gradients of this training, by its construction."""
    return _adding(frozenset(kinds), onset, False)


def _adding(
    kinds: frozenset[str], onset: int, learns: bool
) -> Callable[[Callable[[Log], None]], Callable[[Log], None]]:
    def add(function: Callable[[Log], None]) -> Callable[[Log], None]:
        name = f"{'ill' if kinds else 'healthy'}_{function.__name__}"
        assert name not in TRAININGS, name
        fresh = function.__module__.rpartition(".")[2].startswith("fresh_")
        TRAININGS[name] = Training(name, function, kinds, onset, learns, fresh)
        return function

    return add
