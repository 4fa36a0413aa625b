"""From a traced step and what was kept of its bad run to the question that `blame` answers.

The step runs once more, operation by operation, with the batch of the bad step and with the weights from before its
update in scratch variables; the model itself is not touched.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.explain import source
from tb_gradhealth.explain.nonfinite.blame import Gradient, Question
from tb_gradhealth.explain.nonfinite.graph_run import CannotRun, Run
from tb_gradhealth.explain.nonfinite.handles import handles_of
from tb_gradhealth.explain.nonfinite.trace import CONSTANT, INPUT, VARIABLE, Trace, Value
from tb_gradhealth.explain.variables import name_of


def question_of(
    graph: Any,
    gradients: Sequence[Any],
    variables: Sequence[Any],
    *,
    loss: Any = None,
    inputs: Iterable[tuple[Any, Any]] = (),
    before: Iterable[tuple[Any, Any]] = (),
    data: Any = None,
    step: int = -1,
    replica: int = -1,
) -> Question:
    """Runs a traced step once more.

    Args:
      graph: of the function that holds the step.
      gradients: tensors of the graph, or None.
      variables: they belong to.
      loss: tensor of the graph, if known.
      inputs: pairs of a tensor of the graph and its value at the bad step.
      before: pairs of a variable and its value before the update; others are taken as they are.
      data: the batch as `train_step` got it, in tensors of the graph: gives the parts their names.

    Raises:
      CannotRun: something needed is not known or cannot be run again.
    """
    places = [place for place, gradient in enumerate(gradients) if gradient is not None]
    wanted = [_tensor(gradients[place]) for place in places]
    feeds = Feeds(graph, variables, before)
    names = names_of_data(data)
    for tensor, value in inputs:
        feeds.put(tensor, Value(value, INPUT, names.get(id(tensor), "")))
    loss_of_graph = loss is not None and getattr(loss, "graph", None) is graph
    trace = Trace()
    values = Run(trace).graph(graph, feeds.values, [*wanted, *([loss] if loss_of_graph else [])])
    found = tuple(
        Gradient(name_of(variables[place], place), value)
        for place, value in zip(places, values[: len(places)], strict=True)
    )
    return Question(
        trace,
        found,
        values[-1] if loss_of_graph else None,
        _stack(wanted),
        step,
        replica,
        exact=not trace.random,
    )


class Feeds:
    """Values for what a function captures: eager tensors, and variables as they were before an update.

    Args:
      graph: the function's.
      variables: known variables, for their names.
      before: pairs of a variable and a value.
    """

    def __init__(self, graph: Any, variables: Sequence[Any] = (), before: Iterable[tuple[Any, Any]] = ()):
        self.values: dict[Any, Value] = {}
        self._scratch: list[Any] = []
        self._of_handle: dict[int, Value] = {}
        pairs = list(before)
        for place, variable in enumerate([*variables, *(owner for owner, _ in pairs)]):
            for handle in handles_of(variable):
                self._of_handle.setdefault(id(handle), Value(handle, VARIABLE, name_of(variable, place)))
        for variable, value in pairs:
            for handle in handles_of(variable):  # those of a distributed variable were equal
                copy = tf.Variable(value, trainable=False, shape=tf.TensorShape(None))
                self._scratch.append(copy)
                known = self._of_handle[id(handle)]
                known.tensor = copy.handle
        self._capture(graph)

    def put(self, tensor: Any, value: Value) -> None:
        """The value of a tensor of the graph."""
        self.values[tensor.ref()] = value

    def keep_alive(self) -> list[Any]:
        """What must live as long as the values are used."""
        return self._scratch

    def _capture(self, graph: Any) -> None:
        for outer, inner in getattr(graph, "captures", ()):
            value = self._outer(outer, graph)
            if value is not None:
                self.values[inner.ref()] = value

    def _outer(self, tensor: Any, graph: Any) -> Value | None:
        """The value of what is captured: an eager tensor, or one that the function around captured itself."""
        while not hasattr(tensor, "numpy"):
            graph = getattr(graph, "outer_graph", None)
            further = {id(inner): outer for outer, inner in getattr(graph, "captures", ())}
            if id(tensor) not in further:
                return None
            tensor = further[id(tensor)]
        known = self._of_handle.get(id(tensor))
        if known is None:
            known = Value(tensor, VARIABLE if tensor.dtype == tf.resource else CONSTANT)
            self._of_handle[id(tensor)] = known
        return known


def names_of_data(data: Any) -> dict[int, str]:
    """id of a tensor → its part of the batch: ``"x"``, ``"y"``, ``"sample_weight"``; ``"x[0]"`` if it has several."""
    found: dict[int, str] = {}
    if data is None:
        return found
    parts = data if isinstance(data, tuple | list) else (data,)
    for name, part in zip(("x", "y", "sample_weight"), parts, strict=False):
        leaves = [leaf for leaf in tf.nest.flatten(part, expand_composites=True) if leaf is not None]
        for place, leaf in enumerate(leaves):
            found[id(leaf)] = name if len(leaves) == 1 else f"{name}[{place}]"
    return found


def _tensor(gradient: Any) -> Any:
    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient


def _stack(tensors: Sequence[Any]) -> source.Stack:
    """Where the step was traced."""
    for tensor in tensors:
        stack = source.stack_of(tensor.op.traceback)
        if stack:
            return stack
    return ()


__all__ = ["CannotRun", "Feeds", "handles_of", "names_of_data", "question_of"]
