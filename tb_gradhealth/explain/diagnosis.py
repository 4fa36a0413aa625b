"""From what became of a variable's way to the loss to one diagnosis: reason, operation, line, how sure.

Promises: a line that was found by reading the source, or a reason that rests on what could not be seen, is "likely" or
a "guess", never "certain".
"""

import dataclasses
from typing import Any

from tb_gradhealth.explain import custom_gradients, edges, numpy_lines, source, unused_names
from tb_gradhealth.explain.calls import GradientCall
from tb_gradhealth.explain.creation import Creations
from tb_gradhealth.explain.cut import Cut, Finding, Reach
from tb_gradhealth.explain.eager_recorder import CustomGradient
from tb_gradhealth.explain.program import Op
from tb_gradhealth.explain.source import Place

TAPE_REASONS = frozenset({"outside_tape", "after_tape", "other_tape", "stop_recording", "tape_reset", "python_state"})

_LIST_WRITES = ("TensorListSetItem", "TensorListPushBack", "TensorArrayWriteV3", "TensorArrayScatterV3",
                "TensorListScatter", "TensorListScatterIntoExistingList", "TensorArraySplitV3")  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """Why one variable has no gradient.

    Attributes:
      reason_id: a key of `reasons.WORDS`.
      op: as `Cause.op`.
      place: None if no line is known.
      what: fills the sentence.
      certainty: as `Cause.certainty`.
      evidence: short sentences.
      order: place in the program, for the order of blame.
      looped: the cut lies in a loop or branch, so that it yields zeros.
    """

    reason_id: str
    op: str
    place: Place | None = None
    what: str = ""
    certainty: str = "certain"
    evidence: tuple[str, ...] = ()
    order: int = 1 << 30
    looped: bool = False


class Diagnostician:
    """Judges the findings of one gradient call.

    Args:
      call: the call.
      reach: F and B of its program.
      creations: finds the lines where layers and variables are made.
      customs: custom gradients by the name of their operation or the id of their event.
    """

    def __init__(
        self, call: GradientCall, reach: Reach, creations: Creations, customs: dict[Any, CustomGradient] | None = None
    ) -> None:
        self._call = call
        self._reach = reach
        self._creations = creations
        self._customs = customs or {}
        self._stack = call.stack

    # ---- one variable ----

    def judge(self, finding: Finding, variable: Any) -> Diagnosis | None:
        """The diagnosis of a variable that is not connected; None if it is connected."""
        if finding.connected:
            return None
        strong = [cut for cut in finding.cuts if cut.reason not in edges.WEAK | edges.DECOYS]
        weak = [cut for cut in finding.cuts if cut.reason in edges.WEAK]
        if strong and all(cut.reason == "stop_gradient" for cut in strong):
            left = next((op for op in finding.dead if _is_scalar(self._reach.program, op)), None)
            level = -1 if left is None else unused_names.never_read_at(left.stack)
            if left is not None and level >= 0:
                return self._left_out(left, level)
        if strong:
            return self._cut(self._first(self._worth_mending(strong) or weak or strong), finding)
        dropped = next((op for op in finding.dead if op.type in _LIST_WRITES), None)
        if dropped is not None:
            return Diagnosis(
                "tensor_array_dropped",
                dropped.type,
                self._place(dropped),
                order=dropped.index,
                looped=bool(dropped.inside),
            )
        if weak:
            return self._cut(weak[0], finding)
        if finding.converted:
            return self._converted(finding.converted[0])
        if not finding.read:
            return Diagnosis("never_used", "unused", self._creations.variable(variable), certainty="certain")
        if finding.dead:
            return self._thrown_away(finding)
        if finding.cuts:
            return self._cut(finding.cuts[0], finding)
        return Diagnosis("never_used", "unused", self._creations.variable(variable), certainty="likely")

    def _worth_mending(self, cuts: list[Cut]) -> list[Cut]:
        """Those that would let the derivative through if mended; where several ways are cut twice, the user's own."""
        enough = [cut for cut in cuts if self._reach.mends(cut)]
        return enough or [cut for cut in cuts if not source.behind_keras(cut.op.stack)]

    def _first(self, cuts: list[Cut]) -> Cut:
        """The cut to blame: the first on the way, unless a stop_gradient is wrapped around that very operation."""
        first = cuts[0]
        program = self._reach.program
        for output in first.op.outputs:
            users = {
                op for op, _ in program.users[output] if any(self._reach.behind[v] for v in program.ops[op].outputs)
            }
            if len(users) == 1:
                only = program.ops[users.pop()]
                if only.type == "StopGradient":
                    return Cut(only, 0, "stop_gradient")
        return first

    def _cut(self, cut: Cut, finding: Finding) -> Diagnosis:
        op, reason = cut.op, cut.reason
        kind = op.kind or op.type
        if reason in TAPE_REASONS:
            return self._outside(op, reason)
        if reason == "custom_gradient_none":
            return self._custom(cut)
        if reason == "numpy":
            return self._converted(op)
        if reason == "branch_condition":
            return Diagnosis(reason, kind, self._place(op), order=op.index, looped=True)
        if reason == "comparison" and self._only_decides(op):
            reason = "branch_condition"
        what = self._dtype_of(op) if reason in ("integer_cast", "integer_result") else ""
        more = self._further(finding, cut)
        return Diagnosis(reason, kind, self._place(op), what, "certain", more, op.index, looped=bool(op.inside))

    def _further(self, finding: Finding, cut: Cut) -> tuple[str, ...]:
        """Other places that would cut the way once this one is mended."""
        said = []
        for other in finding.cuts:
            if other.op is cut.op or other.reason in edges.DECOYS | edges.WEAK or other.reason == cut.reason:
                continue
            if not self._reach.mends(other):
                continue
            place = self._place(other.op)
            if place is not None:
                at = f"{source.shown(place.file)}:{place.line}"
                said.append(f"A further way is cut at {at} ({other.op.kind or other.op.type}).")
        return tuple(dict.fromkeys(said))[:2]

    def _only_decides(self, op: Op) -> bool:
        """Whether what the loss takes from an operation is nothing but a condition of branches and loops."""
        program, behind = self._reach.program, self._reach.behind
        stack, seen, decides = [o for o in op.outputs if behind[o]], set(), False
        while stack:
            value = stack.pop()
            if value in seen:
                continue
            seen.add(value)
            for user, position in program.users[value]:
                taker = program.ops[user]
                if not any(behind[output] for output in taker.outputs):
                    continue
                if taker.why_blocked(position) == "branch_condition":
                    decides = True
                elif any(program.carries[output] for output in taker.outputs):
                    return False
                else:
                    stack.extend(taker.outputs)
        return decides

    def _dtype_of(self, op: Op) -> str:
        for output in op.outputs:
            tensor = self._reach.program.tensors[output]
            if tensor is not None and not self._reach.program.carries[output]:
                return str(tensor.dtype.base_dtype.name)
        return "whole numbers"

    # ---- kinds of reasons ----

    def _outside(self, op: Op, reason: str) -> Diagnosis:
        stack = op.stack
        place = source.in_function_of(stack, self._stack) or source.innermost(stack)
        inner = source.innermost(stack)
        evidence: tuple[str, ...] = ()
        if inner is not None and inner != place:
            evidence = (f"the operation itself: {source.shown(inner.file)}:{inner.line}: {inner.code}",)
        if reason in ("outside_tape", "other_tape") and op.index < self._earlier_steps():
            reason = "python_state"
            place = inner or place
        return Diagnosis(reason, "outside_tape", place, evidence=evidence, order=op.index)

    def _earlier_steps(self) -> int:
        """Operations of the program that belong to earlier steps."""
        begins = self._call.begins
        if not self._call.eager or not begins:
            return 0
        return next((op.index for op in self._reach.program.ops if getattr(op.source, "position", 0) >= begins), 0)

    def _custom(self, cut: Cut) -> Diagnosis:
        gradient = self._customs.get(cut.op.name) or self._customs.get(id(cut.op.source))
        if gradient is None:
            return Diagnosis("custom_gradient_none", "custom_gradient", self._place(cut.op), order=cut.op.index)
        first = min((p for p, why in cut.op.blocked.items() if why == "silent"), default=None)
        results = 0 if first is None else sum(1 for why in cut.op.blocked.values() if why == "silent")
        place = custom_gradients.return_line(gradient.function, cut.position - results)
        return Diagnosis("custom_gradient_none", "custom_gradient", place or self._place(cut.op), order=cut.op.index)

    def _converted(self, op: Op) -> Diagnosis:
        how = {"numpy": " by .numpy()", "__float__": " by float()", "__int__": " by int()", "__bool__": " by bool()",
               "__array__": " by NumPy", "__index__": " as an index"}.get(op.kind, "")  # fmt: skip
        return Diagnosis("numpy", "numpy", self._place(op), how, order=op.index)

    def _thrown_away(self, finding: Finding) -> Diagnosis:
        dead = finding.dead[0]
        place = numpy_lines.leaves_tensorflow(dead.stack) if self._call.eager and self._target_unseen(dead) else None
        if place is not None:
            return Diagnosis("numpy", "numpy", place, certainty="likely", order=dead.index)
        died = self._place(dead)
        ought = self._next_taken(dead)
        said = f" (computed last in {source.shown(died.file)}:{died.line}: {died.code})" if died is not None else ""
        return Diagnosis("thrown_away", "unused", ought or died, said, order=dead.index)

    def _left_out(self, dead: Op, level: int) -> Diagnosis:
        """A number whose name is never read in the function at this level of the stack."""
        file, line, function = dead.stack[level]
        made = Place(file, line, function)
        ought = self._next_taken(dead, level)
        said = f" (it gets a name in {source.shown(file)}:{line} that is never read: {made.code})"
        return Diagnosis("thrown_away", "unused", ought or made, said, order=dead.index)

    def _target_unseen(self, dead: Op) -> bool:
        """Whether the loss hangs on a constant that came up after an operation: something left TensorFlow unseen."""
        program, behind = self._reach.program, self._reach.behind
        for op in program.ops[dead.index + 1 :]:
            for value in op.inputs:
                if behind[value] and _is_constant(program, value) and value in self._fresh(dead):
                    return True
        if any(_is_constant(program, target) for target in program.targets):
            return True
        return not any(behind[leaf] for leaf in program.leaves.values())  # the loss hangs on no variable at all

    def _fresh(self, dead: Op) -> set[int]:
        """Float constants first taken after an operation."""
        program = self._reach.program
        return {
            value
            for value in range(len(program.carries))
            if program.carries[value]
            and not program.makers[value]
            and program.users[value]
            and min(op for op, _ in program.users[value]) > dead.index
            and _rank(program.tensors[value]) != 0
        }

    def _next_taken(self, dead: Op, only: int | None = None) -> Place | None:
        """The next line, in the function where a value died or around it, that the loss does depend on.

        Args:
          dead: where it died.
          only: the level of its stack to look at; None: from the innermost outwards.
        """
        stack = dead.stack
        start = source.innermost_index(stack) if only is None else only
        later = [
            op
            for op in self._reach.program.ops[dead.index + 1 :]
            if any(self._reach.behind[value] and self._reach.program.carries[value] for value in op.outputs)
            and op.source is not None
        ]
        stacks = [(op, op.stack) for op in later[:4000]]
        for level in range(start, -1 if only is None else only - 1, -1):
            file, line, function = stack[level]
            if not source.is_user_file(file):
                continue
            for _, other in stacks:
                if len(other) <= level or not _same_way(stack, other, level):
                    continue
                if (other[level][0], other[level][2]) != (file, function):
                    continue
                if other[level][1] != line:
                    return Place(*other[level])
                inner = source.innermost(other) if only is None else None
                if inner is not None and (inner.file, inner.line) != (file, line):
                    return inner
        return None

    def _place(self, op: Op) -> Place | None:
        """The user's line of an operation; where only the start of the training is the user's, the layer's line."""
        return self._creations.place_of(op)


def _is_scalar(program: Any, op: Op) -> bool:
    """Whether an operation makes one number, as a loss is."""
    return any(_rank(program.tensors[value]) == 0 for value in op.outputs)


def _same_way(stack: source.Stack, other: source.Stack, level: int) -> bool:
    """Whether two stacks came the same way down to a level."""
    return all(a == b for a, b in zip(stack[:level], other[:level], strict=False))


def _is_constant(program: Any, value: int) -> bool:
    return not program.makers[value] and value not in program.leaves.values()


def _rank(tensor: Any) -> int | None:
    try:
        rank: int | None = tensor.shape.rank
        return rank
    except AttributeError:
        return None
