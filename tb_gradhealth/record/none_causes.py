"""Asking `explain` why gradients are None or zero, once for each trace, and telling the answer.

Promises: causes are in the log before the caller goes on; each is printed once, as one readable block; a failure of the
explanation is a warning and nothing else.
"""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.record.group import Group
from tb_gradhealth.record.guard import Guard
from tb_gradhealth.record.nonfinite_causes import NonfiniteExplainer
from tb_gradhealth.record.recorder import Recorder


class NoneExplainer:
    """Watches gradient calls while it is open and explains missing gradients.

    Args:
      recorder: gets the causes.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._guard = Guard("explaining gradients")
        self._asked: set[tuple[Any, ...]] = set()
        self._watch = self._guard.run(_open_watch)
        self._nonfinite = NonfiniteExplainer(recorder)

    def look(
        self, group: Group, gradients: Sequence[Any], variables: Sequence[Any], loss: Any = None, step: Any = None
    ) -> None:
        """Explains the gradients that are None, unless that very question was asked before, and those not finite.

        Args:
          loss, step: of the step, where they are known.
        """
        self._nonfinite.look(group, gradients, variables, loss, step)
        none = [index for index, gradient in enumerate(gradients) if gradient is None]
        if none and self._watch is not None:
            self._guard.run(self._ask, group, gradients, variables, none)

    def _ask(self, group: Group, gradients: Sequence[Any], variables: Sequence[Any], none: list[int]) -> None:
        graph = None if tf.executing_eagerly() else id(tf.compat.v1.get_default_graph())
        question = (group.name, graph, tuple(none))
        if question in self._asked:
            return
        self._asked.add(question)
        causes = self._watch.causes_of(gradients, variables, ill={"none": none})
        self._recorder.tell_causes(group, causes)

    def close(self) -> None:
        """Takes the hooks off."""
        self._nonfinite.close()
        if self._watch is not None:
            self._guard.run(self._watch.close)
            self._watch = None


def _open_watch() -> Any:
    from tb_gradhealth.explain.tape_watch import TapeWatch

    watch = TapeWatch()
    watch.open()
    return watch
