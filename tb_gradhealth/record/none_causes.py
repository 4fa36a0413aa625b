"""Asking `explain` why gradients are None or zero, once for each trace, and telling the answer.

Promises: causes are in the log before the caller goes on; each is printed once, as one readable block; a failure of the
explanation is a warning and nothing else.
"""

import sys
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.format.causes import Cause
from tb_gradhealth.record.group import Group
from tb_gradhealth.record.guard import Guard
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

    def look(self, group: Group, gradients: Sequence[Any], variables: Sequence[Any]) -> None:
        """Explains the gradients that are None, unless that very question was asked before."""
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
        tell(self._recorder, group.name, causes)

    def close(self) -> None:
        """Takes the hooks off."""
        if self._watch is not None:
            self._guard.run(self._watch.close)
            self._watch = None


def tell(recorder: Recorder, group: str, causes: Sequence[Cause]) -> None:
    """Writes causes to the log and prints those that are new."""
    import dataclasses

    for cause in recorder.add_causes([dataclasses.replace(cause, group=group) for cause in causes]):
        print(_block(cause), file=sys.stderr, flush=True)


def _block(cause: Cause) -> str:
    who = ", ".join(cause.variables[:4]) + (f" and {len(cause.variables) - 4} more" if len(cause.variables) > 4 else "")
    head = f"tb_gradhealth: {cause.kind} gradient of {who}" if who else f"tb_gradhealth: {cause.kind} gradient"
    body = "\n".join("  " + line for line in str(cause).splitlines())
    return f"{head}\n{body}"


def _open_watch() -> Any:
    from tb_gradhealth.explain.tape_watch import TapeWatch

    watch = TapeWatch()
    watch.open()
    return watch
