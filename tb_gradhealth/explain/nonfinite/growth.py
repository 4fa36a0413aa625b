"""Overflow is growth: from a huge value back along what it was made of, to see what grew, where, and how fast.

The chain goes from the overflow upwards, at each operation to its largest input, until the values are ordinary. Where
one operation appears in it again and again (a recurrence, a loop, a stack of layers), its values are the series.
"""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

from tb_gradhealth.explain.nonfinite.facts import Facts, largest_finite
from tb_gradhealth.explain.nonfinite.origins import Origin, origin_of
from tb_gradhealth.explain.nonfinite.trace import VARIABLE, Node, Value

ORDINARY = 100.0
"""Values up to here are not followed further."""

REPEATS = 4
"""So often must an operation appear for its values to be a series."""

GROWTH = 1e4
"""By so much must a series have grown."""

_HANDS_ON = frozenset({"Identity", "ReadVariableOp", "Cast", "Reshape", "Transpose", "StridedSlice", "Squeeze",
                       "ExpandDims", "Split", "Slice", "ConcatV2", "Pack", "Unpack", "TensorListGetItem",
                       "TensorListPopBack", "StopGradient", "Snapshot", "IdentityN"})  # fmt: skip


_LINEAR = frozenset({"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "Mul", "Add", "AddV2",
                     "AddN", "BiasAdd", "Sub", "Sum", "Conv2D"})  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Growth:
    """Attributes:
    series: largest absolute value at each repetition, the earliest first; ``inf`` last where it overflowed.
    origin: of the operation that made it grow most.
    weight: the variable that operation multiplies with; None if there is none.
    repeats: how often that operation appears.
    first: where the chain began: the value that was still ordinary, or that came in huge.
    looped: whether it is repeated by a loop of a graph.
    """

    series: tuple[float, ...]
    origin: Origin
    weight: Value | None
    repeats: int
    first: Value
    looped: bool = False

    @property
    def op(self) -> str:
        """The operation to name: the loop, where what it repeats only multiplies and adds."""
        return "While" if self.looped and self.origin.op in _LINEAR else self.origin.op

    @property
    def factor(self) -> float:
        """Growth from one repetition to the next, as a geometric mean."""
        finite = [value for value in self.series if 0 < value < math.inf]
        if len(finite) < 2:
            return math.inf
        return float((finite[-1] / finite[0]) ** (1 / (len(finite) - 1)))


@dataclasses.dataclass(frozen=True)
class _Link:
    node: Node
    largest: float  # of its output
    before: float  # of the input that the chain goes on to


def chain_of(value: Value) -> tuple[list[_Link], Value]:
    """The links from a huge value upwards, the value itself first, and the value at which the chain ends."""
    links: list[_Link] = []
    seen: set[int] = set()
    while value.node is not None and id(value) not in seen:
        seen.add(id(value))
        inputs = [item for item in value.node.inputs if item.facts.numeric and _is_real(item)]
        if not inputs:
            break
        following = max(inputs, key=size_of)
        links.append(_Link(value.node, size_of(value), size_of(following)))
        value = following
        if size_of(value) < ORDINARY:
            break
    return links, value


def size_of(value: Value) -> float:
    """Largest absolute value, Inf where an element is."""
    facts: Facts = value.facts
    return math.inf if facts.inf and not facts.is_mask else float(facts.largest)


def growth_behind(value: Value, origin: Callable[[Node], Origin] = origin_of) -> Growth | None:
    """The growth that a huge value comes from, None where nothing repeats."""
    links, first = chain_of(value)
    if len(links) < REPEATS:
        return None
    groups: dict[Any, list[_Link]] = {}
    for link in links:
        groups.setdefault(_signature(link.node, origin), []).append(link)
    repeated = {key: group for key, group in groups.items() if len(group) >= _needed(group) and _grew(group)}
    if not repeated:
        return None
    gains = {key: _gain(group) for key, group in repeated.items()}
    key = max(gains, key=lambda item: gains[item])
    group = repeated[key]
    if gains[key] <= 0:
        return None
    series = tuple(link.largest for link in reversed(group))
    if math.isfinite(series[-1]) and not math.isfinite(size_of(value)):
        series = (*series, math.inf)
    looped = any(part.startswith("While") for part in group[0].node.path)
    weight = next((found for link in group if (found := _weight_of(link)) is not None), None)
    return Growth(series, origin(group[0].node), weight, len(group), first, looped)


def is_overflow(node: Node) -> bool:
    """Whether a node with finite inputs left the range of its type, rather than meeting a pole."""
    sizes = [size_of(item) for item in node.inputs if item.facts.numeric and _is_real(item)]
    if not sizes:
        return False
    limit = max(largest_finite(item.facts.dtype) for item in node.outputs if item.facts.numeric)
    return max(sizes) > min(1e4, math.sqrt(limit) / 10)


def _is_real(value: Value) -> bool:
    return value.facts.dtype.startswith(("float", "bfloat", "complex"))


def _needed(group: Sequence[_Link]) -> int:
    """How many repetitions make a series; of an operation in a loop, fewer."""
    return REPEATS - 1 if group[0].node.path else REPEATS


def _grew(group: Sequence[_Link]) -> bool:
    first, last = group[-1].largest, group[0].largest
    return first >= 0 and last > GROWTH * max(first, 1e-30)


def _gain(group: Sequence[_Link]) -> float:
    """Decades that the operation added over all its repetitions."""
    total = 0.0
    for link in group:
        if 0 < link.before < math.inf and 0 < link.largest < math.inf:
            total += math.log10(link.largest / link.before)
        elif math.isinf(link.largest) and 0 < link.before < math.inf:
            total += max(0.0, math.log10(largest_finite(link.node.outputs[0].facts.dtype) / link.before))
    return total


def _signature(node: Node, origin: Callable[[Node], Origin]) -> Any:
    """The same for every repetition of an operation: of a loop's body, of a line in a Python loop."""
    if node.path:
        return (id(node.source), node.backward)
    found = origin(node)
    place = found.place
    where = (place.file, place.line) if place is not None else found.scope
    return (node.type, found.backward, where)


def _weight_of(link: _Link) -> Value | None:
    """The variable among the other inputs of an operation."""
    for value in link.node.inputs:
        found = variable_behind(value)
        if found is not None:
            return found
    return None


def variable_behind(value: Value) -> Value | None:
    """The variable that a value is read from, perhaps sliced, cast or transposed."""
    for _ in range(12):
        if value.origin == VARIABLE:
            return value
        if value.node is not None and value.node.type == "ReadVariableOp" and value.node.inputs[0].label:
            value.label = value.node.inputs[0].label
            return value
        if value.node is None or value.node.type not in _HANDS_ON or not value.node.inputs:
            return None
        value = value.node.inputs[0]
    return None
