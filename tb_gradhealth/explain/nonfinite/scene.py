"""One birth with all that the words need: numbers, place, what hid it, what it belongs to."""

import dataclasses
from collections.abc import Iterator, Sequence

from tb_gradhealth.explain.nonfinite.facts import Facts
from tb_gradhealth.explain.nonfinite.origins import Origin
from tb_gradhealth.explain.nonfinite.trace import Node, Value

_SELECTS = frozenset({"Select", "SelectV2", "MulNoNan", "Where"})
_NEAR = 8
"""How many operations away a `tf.where` may be to count as hiding a value."""


@dataclasses.dataclass(frozen=True)
class Scene:
    """Attributes:
    node: the operation in which the NaN or Inf was born.
    origin: of that operation; `origin.op` is the forward operation.
    inputs, output: facts of the node's inputs and of its non-finite output.
    forward: executions of the forward operation, for its inputs; empty for an operation of the forward pass.
    hidden: whether a `tf.where` (or its like) masks what the forward operation yields.
    functions: names of the library functions between the user's line and the operation, outermost first.
    files: their files.
    loss: the loss, None if not known.
    """

    node: Node
    origin: Origin
    output: Facts
    forward: tuple[Node, ...] = ()
    hidden: bool = False
    functions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    loss: float | None = None

    @property
    def inputs(self) -> tuple[Facts, ...]:
        return tuple(value.facts for value in self.node.inputs)

    @property
    def numbers(self) -> tuple[Facts, ...]:
        """Facts of the inputs that hold numbers."""
        return tuple(facts for facts in self.inputs if facts.numeric and facts.size)

    @property
    def forward_inputs(self) -> tuple[Facts, ...]:
        """Facts of the forward operation's inputs; its own for an operation of the forward pass."""
        if not self.origin.backward:
            return self.inputs
        return tuple(value.facts for node in self.forward[:1] for value in node.inputs)

    def within(self, *names: str) -> bool:
        """Whether one of these library functions was at work."""
        return any(name in self.functions for name in names)

    def within_file(self, *ends: str) -> bool:
        return any(file.endswith(end) for file in self.files for end in ends)


def is_hidden(start: Sequence[Value], consumers: dict[int, list[Node]]) -> bool:
    """Whether a `tf.where` that takes both of its branches stands shortly behind these values."""
    for node, taken in _behind(start, consumers):
        if node.type in _SELECTS and not node.backward:
            if node.type == "MulNoNan":
                return True
            condition = node.inputs[0].facts
            if any(taken is item for item in node.inputs[1:]) and 0 < condition.zeros < condition.size:
                return True
    return False


def _behind(start: Sequence[Value], consumers: dict[int, list[Node]]) -> Iterator[tuple[Node, Value]]:
    seen: set[int] = set()
    todo = [(0, value) for value in start]
    while todo:
        distance, value = todo.pop(0)
        for node in consumers.get(id(value), ()):
            if id(node) in seen or node.backward:
                continue
            seen.add(id(node))
            yield node, value
            if distance < _NEAR and len(seen) < 400:
                todo += [(distance + 1, output) for output in node.outputs]
