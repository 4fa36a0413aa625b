"""NaN and Inf, and the overflow that a loss scaler caught.

Source: IEEE 754; one NaN element makes the norm of its variable NaN, and with clipping by the global norm every
variable's. Formula: steps with a NaN (or an Inf and no NaN) among the elements, less those whose update the loss scaler
withheld (`handled_steps`), counted in steps. Overflow is what mixed precision does by design: the scaler tries a larger
scale every 2000 steps, steps back on overflow, and may need some 25 halvings at the beginning. It is an illness where
it goes on for longer than float16 has powers of two, or withholds more than one update in ten.
"""

import abc

import numpy as np

from tb_gradhealth.format.windows import Array
from tb_gradhealth.health.block import Block
from tb_gradhealth.health.episodes import Episode
from tb_gradhealth.health.rules.base import Rule

_HALVINGS = 32
"""Consecutive halvings after which a scale of 2**15 is far below 2**-14, float16's smallest normal number."""
_SHARE = 0.1
_SETTLED_STEPS = 200


class _NonFinite(Rule):
    def look(self, block: Block) -> None:
        if not block.any_nonfinite and not self.episodes.active.any():
            return
        counts = np.where(self.layout.trained, self._count(block), 0)
        self.episodes.observe(
            counts, block.windows.first_bad_step, block.windows.steps, block.windows.last_step, seen=block.seen
        )

    @abc.abstractmethod
    def _count(self, block: Block) -> Array: ...

    def now(self) -> Array:
        """Ill in the latest window, or comes again and again and has not stayed away for twice its usual pause."""
        e = self.episodes
        if not e.all:
            return e.active
        first = np.array([episode.first for episode in e.all])[np.maximum(e.episode, 0)]
        pause = (e.last_ill - first) / np.maximum(e.interruptions - 1, 1)
        recurring = (e.interruptions >= 3) & (self.last_step - e.last_ill <= 2 * pause)
        now: Array = e.active | recurring
        return now

    def since(self) -> Array:
        e = self.episodes
        first = np.array([episode.first for episode in e.all] or [0])[np.maximum(e.episode, 0)]
        recurring = e.interruptions >= 3
        return np.where(recurring, first, e.streak_first)

    def severity(self, episode: Episode) -> str:
        return "bad"


class NotANumber(_NonFinite):
    """At least one NaN in a gradient, and the update was made. Bad."""

    kind = "nan"
    name = "nan"
    checks = "NaN"

    def _count(self, block: Block) -> Array:
        w = block.windows
        nan: Array = np.minimum(w.nan_steps, np.maximum(w.nan_steps + w.inf_steps - w.handled_steps, 0))
        return nan

    def sentence(self, episode: Episode) -> str:
        return f"NaN in the gradient of {self.who(episode)} {self.when(episode)}."


class Infinite(_NonFinite):
    """At least one Inf and no NaN in a gradient, and the update was made. Bad."""

    kind = "inf"
    name = "inf"
    checks = "Inf"

    def _count(self, block: Block) -> Array:
        w = block.windows
        left = np.maximum(w.nan_steps + w.inf_steps - w.handled_steps, 0)
        inf: Array = left - np.minimum(w.nan_steps, left)
        return inf

    def sentence(self, episode: Episode) -> str:
        return f"Inf in the gradient of {self.who(episode)} {self.when(episode)}."


class HandledOverflow(_NonFinite):
    """Not finite, but the loss scaler saw it and withheld the update. Known and harmless unless it does not stop."""

    kind = "overflow"
    name = "overflow"
    checks = "overflow that the loss scaler handled"

    def _count(self, block: Block) -> Array:
        handled: Array = np.minimum(block.windows.handled_steps, block.nonfinite)
        return handled

    def now(self) -> Array:
        return self.episodes.active

    def since(self) -> Array:
        return self.episodes.streak_first

    def severity(self, episode: Episode) -> str:
        if episode.last - episode.first + 1 == episode.steps > _HALVINGS:
            return "watch"
        often = self.steps > _SETTLED_STEPS and self.episodes.total.max() > _SHARE * self.steps
        return "watch" if often else "info"

    def evidence(self, episode: Episode) -> dict[str, float]:
        return {"steps": float(episode.steps), "share_of_steps": episode.steps / max(self.steps, 1)}

    def sentence(self, episode: Episode) -> str:
        return f"Overflow in {self.who(episode)} {self.when(episode)}; the loss scaler withheld those updates."
