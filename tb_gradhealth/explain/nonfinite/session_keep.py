"""TensorFlow 1: keeps what a session's bad step was made of, in the very run in which it went wrong.

One branch of the graph is taken only when a gradient (or the loss) is not finite; it hands the values of placeholders,
random numbers and weights to the host. The weights are the values that the forward pass itself read, so they are those
from before the update, wherever the session runs the update. The step is then run once more from these values.

What it costs: the branch holds on to the weights it would hand over until the gradients are known, so that an update
in the same run copies them first; weights beyond `WEIGHT_BYTES` in all are therefore left out.
"""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tb_gradhealth.explain import private
from tb_gradhealth.explain.nonfinite.blame import Gradient, Question, causes_of
from tb_gradhealth.explain.nonfinite.graph_questions import CannotRun
from tb_gradhealth.explain.nonfinite.graph_run import RANDOM, Run
from tb_gradhealth.explain.nonfinite.trace import INPUT, VARIABLE, Trace, Value
from tb_gradhealth.explain.source import stack_of
from tb_gradhealth.explain.variables import name_of
from tb_gradhealth.format.causes import Cause

WEIGHT_BYTES = 16 * 2**20

_FED = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"})
_DRAWN = frozenset({"IteratorGetNext", "QueueDequeueV2", "QueueDequeueManyV2"}) | RANDOM
_READS = frozenset({"ReadVariableOp", "VariableV2", "Variable"})


class SessionKeeper:
    """Keeps the first bad step of a graph.

    Args:
      gradients: tensors, `tf.IndexedSlices` or None.
      variables: they belong to.
      loss: tensor or None.
    """

    def __init__(self, gradients: Sequence[Any], variables: Sequence[Any], loss: Any = None):
        self._gradients = [None if g is None else _tensor(g) for g in gradients]
        self._variables = list(variables)
        self._loss = loss
        self._lock = threading.Lock()
        self._kept: list[Any] | None = None
        self._asked = False
        self._leaves = self._find_leaves()

    def attach(self, rows: Any, finite: Any) -> Any:
        """The tensor to fetch in place of `rows`: the same value; fetching it keeps the step if it is bad.

        Args:
          rows: a tensor.
          finite: bool ``[]``, whether the gradients are.
        """
        if not self._leaves or all(gradient is None for gradient in self._gradients):
            return rows
        with tf.name_scope("gradhealth_keep"):
            if self._loss is not None:
                finite = tf.logical_and(finite, tf.reduce_all(tf.math.is_finite(tf.cast(self._loss, tf.float32))))
            done = tf.cond(finite, lambda: tf.constant(True), self._hand_over)
            with tf.control_dependencies([done]):
                return tf.identity(rows)

    def causes(self, step: int = -1) -> list[Cause]:
        """The causes of the kept step; none while there is none, or if it was asked before.

        Raises:
          CannotRun: the step cannot be run again; the text says why.
        """
        with self._lock:
            kept, self._kept = self._kept, None
        if kept is None or self._asked:
            return []
        self._asked = True
        with private.eager_mode():
            return causes_of(self._question(kept, step))

    def _question(self, kept: Sequence[Any], step: int) -> Question:
        feeds: dict[Any, Value] = {}
        owners = _owners(self._variables)
        for tensor, value in zip(self._leaves, kept, strict=True):
            op = tensor.op
            if op.type in _READS:
                name = owners.get(_handle_name(op), _handle_name(op))
                feeds[tensor.ref()] = Value(tf.constant(value), VARIABLE, name)
            else:
                feeds[tensor.ref()] = Value(tf.constant(value), INPUT, op.name if op.type in _FED else "")
        places = [place for place, gradient in enumerate(self._gradients) if gradient is not None]
        wanted: list[Any] = [self._gradients[place] for place in places]
        wanted += [self._loss] if self._loss is not None else []
        trace = Trace()
        values = Run(trace).graph(wanted[0].graph, feeds, wanted)
        found = tuple(
            Gradient(name_of(self._variables[place], place), value)
            for place, value in zip(places, values[: len(places)], strict=True)
        )
        loss = values[-1] if self._loss is not None else None
        return Question(trace, found, loss, stack_of(wanted[0].op.traceback), step, exact=not trace.random)

    def _find_leaves(self) -> list[Any]:
        """Where values enter the gradients: what is fed, drawn at random, queued, read from a variable."""
        leaves: dict[Any, Any] = {}
        seen: set[int] = set()
        budget = WEIGHT_BYTES
        stack = [tensor for tensor in (*self._gradients, self._loss) if tensor is not None]
        while stack:
            tensor = stack.pop()
            op = tensor.op
            if op.type in _FED | _DRAWN:
                if tensor.dtype not in (tf.resource, tf.variant):
                    leaves[tensor.ref()] = tensor
                continue
            if op.type in _READS:
                size = int(tensor.shape.num_elements() or WEIGHT_BYTES) * tensor.dtype.size
                if tensor.ref() not in leaves and size <= budget:
                    budget -= size
                    leaves[tensor.ref()] = tensor
                continue
            if id(op) not in seen:
                seen.add(id(op))
                stack.extend(op.inputs)
        return list(leaves.values())

    def _hand_over(self) -> Any:
        def keep(*values: Any) -> Any:
            with self._lock:
                if self._kept is None and not self._asked:
                    self._kept = [np.array(value) for value in values]
            return np.bool_(True)

        done = tf.numpy_function(keep, [tf.convert_to_tensor(tensor) for tensor in self._leaves], tf.bool)
        done.set_shape([])
        return done


def _tensor(gradient: Any) -> Any:
    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient


def _owners(variables: Sequence[Any]) -> dict[str, str]:
    """Name of a variable's operation → the variable's name."""
    found = {}
    for place, variable in enumerate(variables):
        op = getattr(getattr(variable, "handle", None), "op", None) or getattr(variable, "op", None)
        if op is not None:
            found[op.name] = name_of(variable, place)
    return found


def _handle_name(op: Any) -> str:
    return str(op.inputs[0].op.name if len(op.inputs) else op.name)


__all__ = ["CannotRun", "SessionKeeper"]
