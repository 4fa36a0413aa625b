"""A step taken apart: which operation made which value from which, whatever engine ran it.

`Value`s and `Node`s form one flat graph: bodies of loops, branches and called functions are there operation by
operation, in the order in which they ran, so that a walk needs to know nothing of control flow. `Trace` bounds the
memory: beyond its budget a value that nobody needs any more gives up its tensor and keeps its facts.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from tb_gradhealth.explain.nonfinite.facts import NOTHING, Facts, facts_of

BUDGET_BYTES = 512 * 2**20
"""How much a trace keeps alive of values that no later operation needs."""

COMPUTED, CONSTANT, INPUT, VARIABLE = "computed", "constant", "input", "variable"
"""Where a value comes from: an operation, a literal in the program, the caller's batch, a weight."""


class Value:
    """One tensor of a step.

    Attributes:
      tensor: the eager tensor, None once the trace gave it up.
      origin: one of COMPUTED, CONSTANT, INPUT, VARIABLE.
      label: name of the input or of the variable; "" otherwise.
      owner: what must live as long as the value: a scratch variable.
      node: the operation that made it, None for inputs, variables and constants.
    """

    __slots__ = ("_facts", "label", "node", "origin", "owner", "tensor")

    def __init__(self, tensor: Any, origin: str = COMPUTED, label: str = "", node: Node | None = None):
        self.tensor = tensor
        self.origin = origin
        self.label = label
        self.node = node
        self.owner: Any = None
        self._facts: Facts | None = None

    @property
    def facts(self) -> Facts:
        """Facts of the tensor; of a list of tensors (a loop's TensorList), whatever went into it."""
        if self._facts is None:
            facts = facts_of(self.tensor) if self.tensor is not None else NOTHING
            if not facts.numeric and self.node is not None and is_list(self):
                facts = _facts_of_list(self)
            self._facts = facts
        return self._facts

    def give_up(self) -> int:
        """Drops the tensor, keeps the facts; returns the bytes freed."""
        size = nbytes(self.tensor)
        _ = self.facts
        self.tensor = None
        return size

    def __repr__(self) -> str:
        made = f" of {self.node.type}" if self.node is not None else ""
        return f"<Value {self.origin} {self.label}{made} {self.facts}>"


@dataclasses.dataclass(eq=False)
class Node:
    """One execution of one operation.

    Attributes:
      type: TensorFlow's type of the operation (``"Sqrt"``).
      inputs, outputs: its values, in the operation's order.
      index: its place in the order of execution: a number, and for an operation inside a call that was entered later
        the call's place first.
      source: what knows its source line: a graph operation, or recorded frames; see `lines`.
      forward: the operation whose derivative it belongs to; None for an operation of the forward pass.
      backward: whether it belongs to a derivative at all.
      attrs: name → value, as far as known.
      path: control flow around it, outermost first (``("While[37]",)``).
    """

    type: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    index: tuple[int, ...]
    source: Any = None
    forward: Any = None
    backward: bool = False
    attrs: dict[str, Any] = dataclasses.field(default_factory=dict)
    path: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Node {'.'.join(map(str, self.index))} {self.type}{' '.join(('', *self.path))}>"


class Trace:
    """The operations of one step in the order in which they ran."""

    def __init__(self, budget: int = BUDGET_BYTES):
        self.nodes: list[Node] = []
        self.random = False
        """Whether an operation drew random numbers that may differ from those of the step itself."""
        self._budget = budget
        self._kept = 0
        self._finished: collections.deque[Value] = collections.deque()

    def add(self, node: Node) -> Node:
        for output in node.outputs:
            output.node = node
        self.nodes.append(node)
        return node

    def finished(self, value: Value) -> None:
        """No later operation needs this value."""
        size = nbytes(value.tensor)
        if size < 4096:
            return
        self._finished.append(value)
        self._kept += size
        while self._kept > self._budget and self._finished:
            self._kept -= self._finished.popleft().give_up()

    def consumers(self) -> dict[int, list[Node]]:
        """id of a value → the operations that took it."""
        table: dict[int, list[Node]] = {}
        for node in self.nodes:
            for value in node.inputs:
                table.setdefault(id(value), []).append(node)
        return table


def nbytes(tensor: Any) -> int:
    """Bytes of an eager tensor, 0 where that has no meaning."""
    try:
        return int(tensor.shape.num_elements() or 0) * int(tensor.dtype.size)
    except (AttributeError, TypeError, ValueError):
        return 0


def is_list(value: Value) -> bool:
    """Whether it is a handle to a list of tensors (dtype variant)."""
    return value.tensor is not None and getattr(getattr(value.tensor, "dtype", None), "name", "") == "variant"


def _facts_of_list(value: Value) -> Facts:
    """Worst facts of all that was ever put into the list: NaN before Inf before the first numeric item."""
    worst = NOTHING
    for item in _items(value):
        facts = item.facts
        if facts.nan:
            return facts
        if (facts.bad and not worst.bad) or (facts.numeric and not worst.numeric):
            worst = facts
    return worst


def _items(value: Value) -> Iterator[Value]:
    seen = {id(value)}
    stack: list[Value] = [value]
    while stack:
        node = stack.pop().node
        for item in node.inputs if node is not None else ():
            if id(item) in seen:
                continue
            seen.add(id(item))
            if is_list(item):
                stack.append(item)
            elif getattr(getattr(item.tensor, "dtype", None), "is_floating", True):
                yield item


def bad_values(values: Sequence[Value]) -> list[Value]:
    """Those that hold a NaN or an Inf."""
    return [value for value in values if value.facts.bad]
