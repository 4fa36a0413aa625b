"""Where the way from a variable to the loss is cut: the F and B sets, the cuts between them, and values that die.

F is what a variable reaches over edges that carry a derivative; B is all that the loss depends on over any edge. A cut
is an edge out of F into B that carries none. Without a cut the variable is connected, or its value dies before it
reaches anything that the loss depends on, or it is never read. Many variables go through in one pass, as bit masks.
"""

import collections
import dataclasses
import functools
from collections.abc import Mapping, Sequence

from tb_gradhealth.explain import edges
from tb_gradhealth.explain.program import RECORDED, Op, Program

SILENT = "silent"
"""Reason of edges that are blocked without being anybody's fault (inside a custom gradient)."""


@dataclasses.dataclass(frozen=True)
class Cut:
    """An edge from F into B through which no derivative flows."""

    op: Op
    position: int
    reason: str


@dataclasses.dataclass(frozen=True)
class Finding:
    """What became of the way from one variable to the loss.

    Attributes:
      connected: a derivative reaches the loss.
      read: the variable is read at all.
      cuts: the first to blame first.
      dead: the last operations on ways that end nowhere, the latest first.
      converted: conversions to NumPy that anything computed from the variable reaches, the first first.
    """

    connected: bool
    read: bool
    cuts: tuple[Cut, ...] = ()
    dead: tuple[Op, ...] = ()
    converted: tuple[Op, ...] = ()


class Reach:
    """F of several starting values at once, and B of the program's targets.

    Args:
      program: laid out.
      starts: values from which derivatives are wanted.
      closed: further edges to take as blocked: (operation, input) → reason, e.g. what is zero by its value.
    """

    def __init__(
        self, program: Program, starts: Sequence[int], closed: Mapping[tuple[int, int], str] | None = None
    ) -> None:
        self.program = program
        self.starts = list(starts)
        self._closed = closed or {}
        self.behind = self._backward()
        self.masks = self._forward()

    # ---- the sets ----

    def _backward(self) -> list[bool]:
        """B: value → whether the loss depends on it."""
        program = self.program
        behind = [False] * len(program.carries)
        stack = list(program.targets)
        for value in stack:
            behind[value] = True
        while stack:
            for maker in program.makers[stack.pop()]:
                for value in program.ops[maker].inputs:
                    if not behind[value]:
                        behind[value] = True
                        stack.append(value)
        return behind

    def _forward(self) -> list[int]:
        """F: value → bit mask of the starts whose derivative it carries."""
        program = self.program
        masks = [0] * len(program.carries)
        for bit, value in enumerate(self.starts):
            if program.carries[value]:
                masks[value] |= 1 << bit
        queue = collections.deque(sorted({op for value in self.starts for op, _ in program.users[value]}))
        waiting = set(queue)
        while queue:
            op = program.ops[queue.popleft()]
            waiting.discard(op.index)
            mask = 0
            for position, value in enumerate(op.inputs):
                if masks[value] and self.why_closed(op, position) is None:
                    mask |= masks[value]
            if not mask:
                continue
            for output in op.outputs:
                if program.carries[output] and masks[output] | mask != masks[output]:
                    masks[output] |= mask
                    for user, _ in program.users[output]:
                        if user not in waiting:
                            waiting.add(user)
                            queue.append(user)
        return masks

    def why_closed(self, op: Op, position: int) -> str | None:
        """Why no derivative flows into this input of an operation; None if one does."""
        if op.unrecorded != RECORDED:
            return op.unrecorded
        return op.why_blocked(position) or self._closed.get((op.index, position))

    @functools.cached_property
    def open_to_loss(self) -> list[bool]:
        """Value → whether a derivative would come back to it if it could carry one.

        Values that cannot (integers, what was written into a variable) are passed: they belong to the cut before them.
        """
        program = self.program
        opened = [False] * len(program.carries)
        stack = list(program.targets)
        for value in stack:
            opened[value] = True
        while stack:
            for maker in program.makers[stack.pop()]:
                op = program.ops[maker]
                for position, value in enumerate(op.inputs):
                    if opened[value]:
                        continue
                    reason = self.why_closed(op, position)
                    if reason is None or reason in ("assigned", SILENT) or not program.carries[value]:
                        opened[value] = True
                        stack.append(value)
        return opened

    def mends(self, cut: "Cut") -> bool:
        """Whether the derivative would arrive if this one cut were mended."""
        return any(self.open_to_loss[value] for value in cut.op.outputs)

    # ---- answers ----

    def finding(self, start: int) -> Finding:
        """What became of the way from the `start`-th starting value."""
        bit = 1 << start
        value = self.starts[start]
        if any(self.masks[target] & bit for target in self.program.targets):
            return Finding(connected=True, read=True)
        cuts = [cut for cut in self._cuts(bit) if cut.reason != SILENT]
        return Finding(
            connected=False,
            read=bool(self.program.users[value]),
            cuts=tuple(sorted(cuts, key=_blame)),
            dead=tuple(self._dead(bit)),
            converted=tuple(self._converted(bit)),
        )

    def _cuts(self, bit: int) -> list[Cut]:
        program, found = self.program, []
        for op in program.ops:
            if not any(self.behind[value] for value in op.outputs):
                continue
            for position, value in enumerate(op.inputs):
                if not self.masks[value] & bit:
                    continue
                reason = self.why_closed(op, position)
                if reason is not None:
                    if reason != "numpy" or not self._goes_on(value):
                        found.append(Cut(op, position, reason))
                    continue
                for output in op.outputs:
                    if self.behind[output] and not program.carries[output]:
                        found.append(Cut(op, position, _reason_of_dtype(op)))
                        break
        return found

    def _goes_on(self, value: int) -> bool:
        """Whether the loss depends on a value by another way than through NumPy: then it was only looked at."""
        program = self.program
        return any(
            program.ops[user].type != "Numpy" and any(self.behind[output] for output in program.ops[user].outputs)
            for user, _ in program.users[value]
        )

    def _dead(self, bit: int) -> list[Op]:
        """Operations that a derivative reaches and whose results nothing takes up, the latest first."""
        program, found = self.program, []
        for op in reversed(program.ops):
            if not any(self.masks[value] & bit for value in op.inputs):
                continue
            if any(self.behind[value] for value in op.outputs):
                continue
            used = any(self.masks[output] & bit and program.users[output] for output in op.outputs)
            if not used:
                found.append(op)
        return found

    def _converted(self, bit: int) -> list[Op]:
        """Conversions to NumPy of values computed in any way from what the variable reaches."""
        program, found = self.program, []
        stack = [value for value, mask in enumerate(self.masks) if mask & bit]
        seen = set(stack)
        while stack:
            for user, _ in program.users[stack.pop()]:
                op = program.ops[user]
                if op.type == "Numpy":
                    found.append(op)
                    continue
                for output in op.outputs:
                    if output not in seen:
                        seen.add(output)
                        stack.append(output)
        return sorted(set(found), key=lambda op: op.index)

    def connected_ops(self) -> frozenset[int]:
        """Operations on a way along which a derivative reaches the loss from some start."""
        program = self.program
        live = {value for value in program.targets if self.masks[value]}
        stack, found = list(live), set()
        while stack:
            for maker in program.makers[stack.pop()]:
                op = program.ops[maker]
                found.add(maker)
                for position, value in enumerate(op.inputs):
                    if self.masks[value] and value not in live and self.why_closed(op, position) is None:
                        live.add(value)
                        stack.append(value)
        return frozenset(found)


def _blame(cut: Cut) -> tuple[int, int]:
    """The order of blame: what stops a derivative outright, then masks and conditions, then shapes; earlier first."""
    rank = 2 if cut.reason in edges.DECOYS else 1 if cut.reason in edges.WEAK else 0
    return rank, cut.op.index


def _reason_of_dtype(op: Op) -> str:
    """Why the result of an operation carries no derivative although the operation has one."""
    if op.type == "Cast":
        return "integer_cast"
    return edges.reason_of(op.kind or op.type, "integer_result")
