"""`TapeWatch`: what the recording side asks for the causes of None and zero gradients.

Promises: opening and closing may nest and repeat; no method raises; an answer that is not known is an empty list, and
in eager mode the next steps are then recorded, so that the same question has an answer soon.
"""

import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tb_gradhealth.explain import failures, hooks, variables
from tb_gradhealth.explain.calls import GradientCall
from tb_gradhealth.explain.none import Asked, Explainer
from tb_gradhealth.explain.observer import AGAIN, observer
from tb_gradhealth.explain.targets import targets
from tb_gradhealth.format.causes import Cause

_logger = logging.getLogger("tb_gradhealth")


class TapeWatch:
    """Watches gradient calls from `open` to `close` and explains their results.

    Args:
      on_causes: called with causes that nobody asked for: of a gradient call that raised. Before the exception goes on.
    """

    def __init__(self, on_causes: Callable[[list[Cause]], object] | None = None) -> None:
        self._on_causes = on_causes
        self._open = False
        self._since = 0
        self._explainers: list[Explainer] = []
        self.owners: Sequence[Any] = ()
        """Variables that an exception of a TensorFlow 1 session is said to concern."""

    def open(self) -> None:
        """Begins to watch. A second call does nothing."""
        if self._open:
            return
        self._open = True
        self._since = observer.remembered
        with contextlib.suppress(Exception):
            hooks.open_()
            observer.failure_listeners.append(self._raised)
            observer.step_listeners.append(self._step_raised)

    def close(self) -> None:
        """Ends watching; with the last watch that closes TensorFlow is as it was. A second call does nothing."""
        if not self._open:
            return
        self._open = False
        self._explainers.clear()
        with contextlib.suppress(Exception):
            observer.failure_listeners.remove(self._raised)
            observer.step_listeners.remove(self._step_raised)
            hooks.close()

    def rest(self) -> None:
        """Steps that were traced before run again: their operations are not noted unless a question comes up."""
        with contextlib.suppress(Exception):
            observer.disarm()

    def __enter__(self) -> "TapeWatch":
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def causes_of(
        self,
        gradients: Sequence[Any],
        variables: Sequence[Any],
        ill: Mapping[str, Sequence[int]],
        *,
        loss: Any = None,
        step: int = -1,
        names: Sequence[str] | None = None,
        fresh: bool = False,
    ) -> list[Cause]:
        """Why these gradients are None or zero.

        Args:
          gradients: as the tape gave them, or computed from those; None where there is none.
          variables: they belong to, in the same order.
          ill: ``"none"`` and ``"zero"`` → places in the lists that are asked about.
          loss: the loss, where it is known (TensorFlow 1).
          step: for the causes.
          names: of the variables, for the causes; their own where None.
          fresh: leave out eager calls whose answers are no longer at hand, or were other than what is asked about.

        Returns:
          Causes, the first to mend first; empty when nothing is known (yet).
        """
        try:
            return self._causes_of(list(gradients), list(variables), ill, loss, step, names, fresh)
        except Exception as error:
            _logger.debug("no explanation", exc_info=True)
            return [] if not ill else failures.no_explanation(error, ill, variables)

    def _causes_of(
        self,
        gradients: list[Any],
        owners: list[Any],
        ill: Mapping[str, Sequence[int]],
        loss: Any,
        step: int,
        names: Sequence[str] | None,
        fresh: bool,
    ) -> list[Cause]:
        from tb_gradhealth.explain import graph_v1, zero

        names = variables.names_of(owners) if names is None else names
        found: list[Cause] = []
        for kind in ("none", "zero"):
            questions: dict[int, tuple[Explainer, list[Asked]]] = {}
            unknown = False
            for place in ill.get(kind, ()):
                gradient = gradients[place] if kind == "zero" else None
                call = observer.find(owners[place], gradient, none=kind == "none")
                if call is None:
                    unknown = True
                    continue
                at = call.source_of(owners[place])
                if kind == "zero" and _contradicts(call, at or 0, fresh):
                    unknown = True
                    continue
                explainer = self._explainer(call)
                questions.setdefault(id(call), (explainer, []))[1].append(Asked(owners[place], names[place], at or 0))
            for explainer, asked in questions.values():
                if kind == "none":
                    found += explainer.none(asked, step=step)
                else:
                    found += zero.causes(explainer, asked, step)
            if unknown:
                rest = [p for p in ill[kind] if observer.find(owners[p], gradients[p], none=kind == "none") is None]
                if graph_v1.graph_of(gradients, owners) is not None:
                    found += graph_v1.causes_of(gradients, owners, names, {kind: rest}, loss, step)
                elif tf.executing_eagerly():
                    observer.arm(AGAIN)
        return found

    def target_of(self, gradients: Sequence[Any]) -> Any:
        """What these gradients are the derivatives of, as far as known in this graph or thread; else None."""
        try:
            return targets.of(gradients) if self._open else None
        except Exception:
            _logger.debug("no target", exc_info=True)
            return None

    def _explainer(self, call: GradientCall) -> Explainer:
        for explainer in self._explainers:
            if explainer.call is call:
                return explainer
        explainer = Explainer(call, observer)
        self._explainers = [*self._explainers[-3:], explainer]
        return explainer

    def causes_of_error(self, error: BaseException, step: int = -1) -> list[Cause]:
        """Causes of an exception that a step raised while it ran, as far as it comes from a derivative; else none."""
        try:
            names = tuple(variables.names_of(self.owners))
            return failures.of_running(error, observer, step) or failures.of_session(error, names)
        except Exception:
            _logger.debug("no explanation", exc_info=True)
            return []

    def overlooked(self, variables: Sequence[Any] = (), step: int = -1) -> list[Cause]:
        """Causes for variables that take part in the forward pass and are never trained.

        Ask when all of a step's gradient calls have been seen: after some steps, or when training ends.
        """
        try:
            from tb_gradhealth.explain import overlooked

            return overlooked.causes(observer, variables, step)
        except Exception:
            _logger.debug("no explanation", exc_info=True)
            return []

    def unrecorded(self, step: int = -1) -> list[Cause]:
        """Why the last gradients were None, where no step was recorded: it failed after the gradient call."""
        try:
            inner = {id(nested) for call in observer.calls for nested in call.inner}
            mine = [c for c in observer.calls if c.number > self._since and id(c) not in inner]
            call = next((c for c in reversed(mine) if any(c.none)), None)
            if call is None:
                return []
            names = variables.names_of(call.sources)
            asked = [
                Asked(item, names[at], at) for at, item in enumerate(call.sources[: len(call.none)]) if call.none[at]
            ]
            return self._explainer(call).none(asked, step=step)
        except Exception:
            _logger.debug("no explanation", exc_info=True)
            return []

    def _step_raised(self, error: BaseException) -> None:
        causes = self.causes_of_error(error)
        if causes and self._on_causes is not None:
            self._on_causes(causes)

    def _raised(self, call: GradientCall) -> None:
        if self._on_causes is not None:
            causes = failures.of_call(call, observer)
            if causes:
                self._on_causes(causes)


def _contradicts(call: GradientCall, at: int, fresh: bool) -> bool:
    """Whether an eager call answered something other than zeros here, or (if that counts) nobody knows any more."""
    if not call.eager or at >= len(call.results):
        return False
    answer = observer.recorder.kept.get(call.results[at])
    return fresh if answer is None else bool(np.any(np.asarray(answer)))
