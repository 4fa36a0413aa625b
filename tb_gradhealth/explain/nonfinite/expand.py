"""Enters a function call in a trace: `tf.function`s are one operation to eager mode, and dozens inside.

A call is entered only when a walk comes to it, with the inputs that it had; its outputs' makers are then the operations
inside. The index of an inner node lies between the call and what came after it.
"""

import math
from typing import Any

import tensorflow as tf

from tb_gradhealth.explain import private
from tb_gradhealth.explain.nonfinite import held
from tb_gradhealth.explain.nonfinite.graph_run import CannotRun, Run
from tb_gradhealth.explain.nonfinite.trace import VARIABLE, Node, Trace, Value


def is_call(node: Node) -> bool:
    """Whether an eagerly recorded node is a call of a traced function."""
    return node.type.startswith("__")


def expand(node: Node, trace: Trace, large: float = math.inf) -> str:
    """Enters a call to see what made its outputs that are not finite, or larger than `large`.

    Returns "" or why it could not be entered, or why its inside does not tell.
    """
    try:
        function = private.living_function(node.type)
    except private.Missing as error:
        return str(error)
    if function is None:
        return f"the traced function {node.type} is gone"
    graph = function.graph
    if len(graph.inputs) != len(node.inputs):
        return f"the function {node.type} takes {len(graph.inputs)} values and was called with {len(node.inputs)}"
    inside = Trace()
    try:
        bad = [place for place, output in enumerate(node.outputs) if output.facts.bad or output.facts.largest > large]
        wanted = [graph.outputs[place] for place in bad]
        before = _Before(held.noted(node.type))
        feeds = {tensor.ref(): before(value) for tensor, value in zip(graph.inputs, node.inputs, strict=True)}
        results = Run(inside).graph(graph, feeds, wanted)
    except CannotRun as error:
        return str(error)
    if large == math.inf and bad and not any(result.facts.bad for result in results):
        return "running the function once more gave finite values"
    _splice(node, [(node.outputs[place], result) for place, result in zip(bad, results, strict=True)], inside, trace)
    return ""


class _Before:
    """Gives variables as they were before the call, where that was noted: the call itself may have updated them."""

    def __init__(self, weights: dict[int, Any]):
        self._weights = weights

    def __call__(self, value: Value) -> Value:
        weight = self._weights.get(id(value.tensor))
        if weight is None:
            return value
        copy = tf.Variable(weight, trainable=False, shape=tf.TensorShape(None))
        former = Value(copy.handle, VARIABLE, value.label)
        former.owner = copy
        return former


def _splice(call: Node, results: list[tuple[Value, Value]], inside: Trace, trace: Trace) -> None:
    for inner in inside.nodes:
        inner.index = (*call.index, *inner.index)
    for output, result in results:
        if result.node is None or result.node.index[: len(call.index)] != call.index:
            copy = Node("Identity", (result,), (output,), call.index, source=call.source)
            output.node = copy
        else:
            output.node = result.node
            made = result.node
            made.outputs = tuple(output if item is result else item for item in made.outputs)
    place = trace.nodes.index(call)
    trace.nodes[place : place + 1] = inside.nodes
    trace.random |= inside.random
