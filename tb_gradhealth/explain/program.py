"""A step as a flat program: which operation makes which value from which, and where no derivative passes.

One form for a traced graph (called functions, branches and loop bodies laid out in line) and for a recorded eager step,
so that the walks in `cut` need to know neither. Values and operations are numbered in the order in which they came
about; a loop closes over itself by a `LoopPhi`, whose last input is the value from the end of the body.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from tb_gradhealth.explain import edges
from tb_gradhealth.explain.source import Stack, stack_of

RECORDED = ""
"""Of an operation: the tape recorded it (the other values of `Op.unrecorded` say why it did not)."""


@dataclasses.dataclass(eq=False, slots=True)
class Op:
    """One operation at one place of the program.

    Attributes:
      type: TensorFlow's type, or one of this package's: ``LoopPhi``, ``BranchPhi``, ``Condition``, ``Read``,
        ``Write``, ``Numpy``.
      index: its place in the program.
      inputs, outputs: values.
      blocked: input (or `edges.ALL`) → reason for which no derivative flows through it.
      unrecorded: why the tape did not record it, `RECORDED` if it did.
      source: what knows its stack: a graph's operation, or a recorded event.
      inside: control flow around it, outermost first: ``("While",)``.
      name: its name in the graph, "" in eager mode.
      scope: the name scope around it, by which its layer is found.
      kind: TensorFlow's type where `type` is one of this package's.
    """

    type: str
    index: int
    inputs: list[int]
    outputs: list[int]
    blocked: dict[int, str]
    unrecorded: str = RECORDED
    source: Any = None
    inside: tuple[str, ...] = ()
    name: str = ""
    scope: str = ""
    kind: str = ""

    @property
    def stack(self) -> Stack:
        """The Python stack from which it was made, outermost first; empty if not known."""
        return stack_of(getattr(self.source, "traceback", ()) or ())

    def why_blocked(self, position: int) -> str | None:
        """Why no derivative flows through this input; None if one does."""
        return self.blocked.get(position, self.blocked.get(edges.ALL))


@dataclasses.dataclass(eq=False)
class Program:
    """All operations up to a call of `gradient`.

    Attributes:
      ops: in order.
      carries: value → whether its dtype can carry a derivative.
      makers, users: value → operations that make it, and (operation, input) pairs that take it.
      tensors: value → the tensor it is, where there is one to look at.
      targets: values that were differentiated.
      leaves: key of a variable → the value a derivative with respect to it is taken of.
      constants: values with neither maker nor variable: literals, arguments, what came from outside.
      truncated: the program was too large to be laid out in full.
    """

    ops: list[Op] = dataclasses.field(default_factory=list)
    carries: list[bool] = dataclasses.field(default_factory=list)
    makers: list[list[int]] = dataclasses.field(default_factory=list)
    users: list[list[tuple[int, int]]] = dataclasses.field(default_factory=list)
    tensors: list[Any] = dataclasses.field(default_factory=list)
    targets: list[int] = dataclasses.field(default_factory=list)
    leaves: dict[Any, int] = dataclasses.field(default_factory=dict)
    truncated: bool = False

    def value(self, tensor: Any = None, carries: bool = True) -> int:
        """A new value."""
        self.carries.append(carries)
        self.makers.append([])
        self.users.append([])
        self.tensors.append(tensor)
        return len(self.carries) - 1

    def add(self, type_: str, inputs: list[int], outputs: list[int], blocked: dict[int, str], **more: Any) -> Op:
        """A new operation at the end of the program."""
        op = Op(type_, len(self.ops), inputs, outputs, blocked, **more)
        self.ops.append(op)
        for position, value in enumerate(inputs):
            self.users[value].append((op.index, position))
        for value in outputs:
            self.makers[value].append(op.index)
        return op

    def close_loop(self, phi: Op, back: int) -> None:
        """Gives a `LoopPhi` the value from the end of the body."""
        phi.inputs.append(back)
        self.users[back].append((phi.index, len(phi.inputs) - 1))

    def leaf(self, key: Any) -> int:
        """The value that stands for a variable."""
        if key not in self.leaves:
            self.leaves[key] = self.value()
        return self.leaves[key]

    def passes(self, op: Op, position: int, output: int) -> bool:
        """Whether a derivative flows from this output back to this input."""
        return (
            op.unrecorded == RECORDED
            and op.why_blocked(position) is None
            and self.carries[op.inputs[position]]
            and self.carries[output]
        )
