"""TensorFlow 1 graphs: `tf.gradients` was called before anybody watched; the call is made out from the graph.

The gradients that did arrive tell where they came from: TensorFlow notes for each of their operations which operation
it differentiates, and the last of those on the way is the loss. Where no gradient arrived at all, the loss is taken to
be the last float scalar that nothing consumes, and the causes are "likely".
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.explain import private, source, variables
from tb_gradhealth.explain.calls import GradientCall, keys_of_sources
from tb_gradhealth.format.causes import Cause

_UPDATES = ("Resource", "Apply", "Assign", "Scatter")


def graph_of(gradients: Sequence[Any], owners: Sequence[Any]) -> Any:
    """The TensorFlow 1 graph of these gradients and variables; None if they are eager or a function's."""
    for thing in (*gradients, *owners):
        graph = getattr(getattr(thing, "handle", None), "graph", None) or _own_graph(thing)
        if isinstance(graph, tf.Graph) and not graph.building_function:
            return graph
    return None


def _own_graph(thing: Any) -> Any:
    try:
        return thing.graph
    except Exception:  # eager things have none
        return None


def call_of(
    graph: Any, gradients: Sequence[Any], owners: Sequence[Any], loss: Any = None
) -> tuple[GradientCall | None, bool]:
    """The call of `tf.gradients` that gave these gradients, and whether its target is sure."""
    arrived = [g.values if isinstance(g, tf.IndexedSlices) else g for g in gradients if g is not None]
    ops = graph.get_operations()
    order = {id(op): place for place, op in enumerate(ops)}
    target, sure, end = loss, loss is not None, len(ops)
    if arrived:
        behind = _ancestors(arrived)
        made = [op for op in behind if private.original_operation(op) is not None]
        forward = [private.original_operation(op) for op in made]
        if made:
            end = min(order[id(op)] for op in made)
        if target is None and forward:
            last = max(forward, key=lambda op: order.get(id(op), -1))
            target, sure = last.outputs[0], True
    if target is None:
        target = _likely_loss(ops)
    if target is None:
        return None, False
    if not arrived:
        end = max(order[id(target.op)] + 1, 0)
    trace = _stack_of_gradients(arrived) or target.op.traceback
    call = GradientCall(
        id(graph), graph, end, None, [target], list(owners), keys_of_sources(owners), trace, method="tf.gradients"
    )
    call.none = [gradient is None for gradient in gradients]
    call.results = [None for _ in gradients]
    return call, sure


def causes_of(
    gradients: Sequence[Any],
    owners: Sequence[Any],
    names: Sequence[str],
    ill: Mapping[str, Sequence[int]],
    loss: Any = None,
    step: int = -1,
) -> list[Cause]:
    """Why gradients of a TensorFlow 1 graph are None or zero; see `TapeWatch.causes_of`."""
    from tb_gradhealth.explain import zero
    from tb_gradhealth.explain.none import Asked, Explainer
    from tb_gradhealth.explain.observer import observer

    graph = graph_of(gradients, owners)
    call, sure = call_of(graph, gradients, owners, loss)
    if call is None:
        return []
    explainer = Explainer(call, observer)
    found: list[Cause] = []
    for kind, places in ill.items():
        asked = [Asked(owners[place], names[place], place) for place in places]
        if asked:
            found += explainer.none(asked, step=step) if kind == "none" else zero.causes(explainer, asked, step)
    if sure:
        return found
    return [
        dataclasses.replace(cause, certainty="likely") if cause.certainty == "certain" else cause for cause in found
    ]


def explain_v1(grads_and_vars: Iterable[tuple[Any, Any]], loss: Any = None) -> list[Cause]:
    """Why some gradients of a TensorFlow 1 graph are None.

    Args:
      grads_and_vars: pairs as `compute_gradients` returns them.
      loss: what was differentiated; found in the graph if it is not given.

    Returns:
      Causes, the first to mend first.
    """
    pairs = list(grads_and_vars)
    gradients, owners = [g for g, _ in pairs], [v for _, v in pairs]
    none = [place for place, gradient in enumerate(gradients) if gradient is None]
    if not none or graph_of(gradients, owners) is None:
        return []
    return causes_of(gradients, owners, variables.names_of(owners), {"none": none}, loss)


def _ancestors(tensors: Sequence[Any]) -> list[Any]:
    seen: dict[int, Any] = {}
    stack = [tensor.op for tensor in tensors]
    while stack:
        op = stack.pop()
        if id(op) not in seen:
            seen[id(op)] = op
            stack += [tensor.op for tensor in op.inputs]
    return list(seen.values())


def _likely_loss(ops: Sequence[Any]) -> Any:
    """The last float scalar that is computed and that nothing but bookkeeping consumes."""
    for op in reversed(ops):
        if _of_gradients(op):
            continue
        for tensor in op.outputs:
            if (
                tensor.dtype.base_dtype.is_floating
                and tensor.shape.rank == 0
                and op.inputs
                and not op.type.startswith(("ReadVariableOp", "Identity", *_UPDATES))
                and all(
                    consumer.type.startswith((*_UPDATES, "ScalarSummary")) or _of_gradients(consumer)
                    for consumer in tensor.consumers()
                )
            ):
                return tensor
    return None


def _of_gradients(op: Any) -> bool:
    """Whether `tf.gradients` made the operation."""
    return any(file.endswith("gradients_util.py") for file, _, _ in source.stack_of(op.traceback))


def _stack_of_gradients(arrived: Sequence[Any]) -> Any:
    return arrived[0].op.traceback if arrived else None
