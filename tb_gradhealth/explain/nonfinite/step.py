"""One function or step, asked about without any run: why is a gradient, a loss or a result not finite?

A `tf.function` is traced and its operations run one by one: none of its updates happen. Any other callable is called
once, and what it runs eagerly is noted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.explain import hooks, private, source
from tb_gradhealth.explain.calls import GradientCall
from tb_gradhealth.explain.nonfinite import gradient_calls
from tb_gradhealth.explain.nonfinite.blame import Gradient, Question, causes_of
from tb_gradhealth.explain.nonfinite.eager_questions import label_variables
from tb_gradhealth.explain.nonfinite.eager_record import Recorder
from tb_gradhealth.explain.nonfinite.graph_questions import Feeds
from tb_gradhealth.explain.nonfinite.graph_run import Run
from tb_gradhealth.explain.nonfinite.trace import INPUT, Trace, Value
from tb_gradhealth.explain.observer import observer
from tb_gradhealth.explain.variables import name_of, tensor_key
from tb_gradhealth.format.causes import Cause


def explain_step(function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Cause]:
    """The causes of NaN and Inf in the gradients that a function computes, else in what it returns.

    Args:
      function: a `tf.function` (traced if need be; its updates do not happen), or any callable (called once).
      args, kwargs: for it.

    Returns:
      Causes, the first to mend first; none if everything is finite.

    Raises:
      CannotRun: the function cannot be run operation by operation; the text says why.
    """
    with StepWatch() as watch:
        if hasattr(function, "get_concrete_function"):
            return watch.causes_of_traced(function, args, kwargs)
        result = function(*args, **kwargs)
    return watch.causes(result)


class StepWatch:
    """Notes what runs between entering and leaving it, in this thread."""

    def __init__(self) -> None:
        self._recorder = Recorder(deep=True)

    def __enter__(self) -> StepWatch:
        self._stack = source.stack_here(2)
        hooks.open_()
        gradient_calls.open_()
        self._recorder.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._recorder.stop()
        self._calls = list(observer.calls)
        gradient_calls.close()
        hooks.close()

    def causes(self, result: Any = None) -> list[Cause]:
        """After leaving: the causes of what is not finite.

        Args:
          result: what the function returned; asked about if all gradients are finite.
        """
        trace, values = self._recorder.trace()
        by_number = {private.tensor_id(value.tensor): value for value in values.values()}
        gradients: list[Gradient] = []
        loss = None
        for call in self._calls:
            if call.eager and call.position >= 0:
                label_variables(values, [item for item in call.sources if not isinstance(item, tf.Tensor)])
                gradients += _gradients_of(call, by_number)
                loss = next((by_number[number] for number in call.targets if number in by_number), loss)
        if not any(gradient.value.facts.bad for gradient in gradients):
            gradients += _results(result, by_number)
        return causes_of(Question(trace, tuple(gradients), loss, self._stack))

    def causes_of_traced(self, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Cause]:
        """The causes in a `tf.function`, which is traced and not called."""
        concrete = function.get_concrete_function(*args, **kwargs)
        self._recorder.stop()
        graph = concrete.graph
        calls = [call for call in observer.calls if call.graph is graph]
        owners = [item for call in calls for item in call.sources]
        feeds = Feeds(graph, [owner for owner in owners if not isinstance(owner, tf.Tensor)])
        captured = {id(inner) for _, inner in graph.captures}
        own = [tensor for tensor in graph.inputs if id(tensor) not in captured]
        for tensor, value in zip(own, _flat(args, kwargs), strict=False):
            feeds.put(tensor, Value(tf.convert_to_tensor(value), INPUT, tensor.op.name))
        named = _traced_gradients(calls, graph)
        trace = Trace()
        wanted = [tensor for _, tensor in named]
        loss = next((t for call in calls for t in call.targets if tf.is_tensor(t) and t.graph is graph), None)
        values = Run(trace).graph(graph, feeds.values, [*wanted, *([loss] if loss is not None else [])])
        found = tuple(Gradient(name, value) for (name, _), value in zip(named, values, strict=False))
        return causes_of(Question(trace, found, values[-1] if loss is not None else None, self._stack))


def _gradients_of(call: GradientCall, by_number: dict[Any, Value]) -> list[Gradient]:
    return [
        Gradient(name_of(item, place), by_number[key])
        for place, (item, key) in enumerate(zip(call.sources, call.results, strict=False))
        if key in by_number
    ]


def _results(result: Any, by_number: dict[Any, Value]) -> list[Gradient]:
    found = []
    for place, item in enumerate(tf.nest.flatten(result, expand_composites=True)):
        number = private.tensor_id(item) if tf.is_tensor(item) else None
        if number in by_number:
            found.append(Gradient(f"result {place}", by_number[number]))
    return found


def _traced_gradients(calls: Sequence[GradientCall], graph: Any) -> list[tuple[str, Any]]:
    """Names and tensors of the gradients in a traced function; of one traced long ago, its results."""
    found: list[tuple[str, Any]] = []
    tensors = {tensor_key(tensor): tensor for op in graph.get_operations() for tensor in op.outputs}
    for call in calls:
        for place, (item, key) in enumerate(zip(call.sources, call.results, strict=False)):
            if key is not None and key in tensors:
                found.append((name_of(item, place), tensors[key]))
    if not found:
        found = [(f"result {place}", tensor) for place, tensor in enumerate(graph.outputs)]
    return [(name, tensor) for name, tensor in found if tensor.dtype.is_floating or tensor.dtype.is_complex]


def _flat(args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """The tensors among the arguments, in the order of a function's inputs."""
    leaves = tf.nest.flatten((tuple(args), kwargs), expand_composites=True)
    return [
        leaf.handle if isinstance(leaf, tf.Variable) else leaf
        for leaf in leaves
        if tf.is_tensor(leaf) or isinstance(leaf, tf.Variable) or hasattr(leaf, "__array__")
    ]
