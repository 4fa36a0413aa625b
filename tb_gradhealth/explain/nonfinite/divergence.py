"""Training that diverged: the step overflowed because the weights had already grown beyond all measure."""

from collections.abc import Iterable

from tb_gradhealth.explain.nonfinite import words
from tb_gradhealth.explain.nonfinite.growth import size_of
from tb_gradhealth.explain.nonfinite.reasons import Reason
from tb_gradhealth.explain.nonfinite.trace import VARIABLE, Node, Value

HUGE = 1e5
"""No weight is that large by its initialisation or by healthy training."""

_MOST = 4000


def huge_weight(start: Value) -> Value | None:
    """The largest variable behind a value, if it is huge."""
    best: Value | None = None
    for value in _behind(start):
        if value.origin == VARIABLE and value.facts.numeric and size_of(value) > HUGE:
            best = value if best is None or size_of(value) > size_of(best) else best
    return best


def reason_of_divergence(weight: Value, step: int) -> Reason:
    """The reason where weights have grown."""
    name = weight.label or "a weight"
    when = f" by step {step}" if step > 0 else ""
    return Reason(
        "diverged",
        f"the training diverged: the weights themselves have grown to {words.number(size_of(weight))}{when} ({name}), "
        "each update overshooting further than the one before, until the numbers overflow",
        "Lower the learning rate (by a factor of 10, then again), clip the gradients (clipnorm=1.0), and scale the "
        "inputs and targets to about 1.",
        (f"largest |{name}|: {words.number(size_of(weight))}",),
    )


def _behind(start: Value) -> Iterable[Value]:
    """Values that went into a value, nearest first, read variables among them."""
    seen: set[int] = set()
    todo = [start]
    while todo and len(seen) < _MOST:
        value = todo.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield _as_variable(value)
        todo += value.node.inputs if value.node is not None else ()


def _as_variable(value: Value) -> Value:
    node: Node | None = value.node
    if node is not None and node.type in ("ReadVariableOp", "ResourceGather") and value.origin != VARIABLE:
        value.origin, value.label = VARIABLE, value.label or node.inputs[0].label
    return value
