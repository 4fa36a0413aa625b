"""Why gradients are None: one gradient call and some of its variables → causes, the first to mend first."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.explain import reasons, variables
from tb_gradhealth.explain.calls import GradientCall
from tb_gradhealth.explain.creation import Creations
from tb_gradhealth.explain.cut import Finding, Reach
from tb_gradhealth.explain.diagnosis import Diagnosis, Diagnostician
from tb_gradhealth.explain.layout import Layout, lay_out
from tb_gradhealth.explain.observer import Observer
from tb_gradhealth.explain.source import innermost
from tb_gradhealth.format.causes import Cause

TRUNCATED = "The program is so large that only its first part was searched."


@dataclasses.dataclass(frozen=True)
class Asked:
    """A variable that is asked about.

    Attributes:
      variable: as the caller has it.
      name: for the cause.
      place: among the sources of the call.
    """

    variable: Any
    name: str
    place: int


class Explainer:
    """Answers for one gradient call; lays its program out once.

    Args:
      call: remembered.
      observer: with the recorder and the other calls.
    """

    def __init__(self, call: GradientCall, observer: Observer) -> None:
        self.call = call
        self.observer = observer
        self.closed: Any = None
        self.gates: frozenset[int] | None = None
        self.creations = Creations(call.stack)
        self._layout: Layout | None = None
        self._starts: list[tuple[int, int]] = []
        self._reach: Reach | None = None

    @property
    def layout(self) -> Layout:
        if self._layout is None:
            owned = frozenset(
                key
                for call in self.observer.calls
                for item, keys in zip(call.sources, call.keys, strict=True)
                if variables.is_variable(item)
                for key in keys
            )
            self._layout = lay_out(self.call, self.observer.recorder, owned)
        return self._layout

    @property
    def reach(self) -> Reach:
        """F of all sources and B of the targets."""
        if self._reach is None:
            self._starts = [(place, value) for place, values in enumerate(self.layout.starts) for value in values]
            self._reach = Reach(self.layout.program, [value for _, value in self._starts])
        return self._reach

    def finding(self, place: int) -> Finding:
        """What became of the way from the source at `place`; of its best replica, if it has several."""
        reach = self.reach
        found = [reach.finding(bit) for bit, (source, _) in enumerate(self._starts) if source == place]
        if not found:
            return Finding(connected=False, read=False)
        return next((f for f in found if f.connected), None) or next((f for f in found if f.read), found[0])

    def variable_behind(self, leaf: int) -> tuple[str, Any]:
        """Name and variable of a leaf of the program, "" and None if nobody knows it."""
        keys = {key for key, value in self.layout.program.leaves.items() if value == leaf}
        known = [*self.call.sources, *self.call.watched_variables]
        for call in self.observer.calls:
            known += [*call.sources, *call.watched_variables]
        for variable in known:
            if not keys.isdisjoint(variables.keys_of(variable)):
                return variables.name_of(variable), variable
        return "", None

    def reaches_loss(self, variable: Any) -> bool:
        """Whether a derivative would reach a variable that was not asked for."""
        keys = variables.keys_of(variable)
        starts = [self.layout.program.leaf(key) for key in keys]
        reach = Reach(self.layout.program, starts)
        return any(reach.finding(bit).connected for bit in range(len(starts)))

    def none(self, asked: Sequence[Asked], kind: str = "none", step: int = -1) -> list[Cause]:
        """Causes of the gradients that are None (or zero, if the way is cut) for these variables."""
        judge = Diagnostician(self.call, self.reach, self.creations, self.layout.customs)
        diagnoses = [(item, self._one(judge, item, kind)) for item in asked]
        return gathered([(item, d) for item, d in diagnoses if d is not None], kind, step, self._about())

    def _about(self) -> tuple[str, ...]:
        return (TRUNCATED,) if self.layout.program.truncated else ()

    def _one(self, judge: Diagnostician, asked: Asked, kind: str) -> Diagnosis | None:
        finding = self.finding(asked.place)
        plain = self._by_itself(asked)
        if plain is not None:
            return plain
        found = judge.judge(finding, asked.variable)
        if found is not None or kind != "none":
            return found
        return self._connected_and_none(asked)

    def _by_itself(self, asked: Asked) -> Diagnosis | None:
        """Reasons that lie in the variable, not in the program."""
        variable, call = asked.variable, self.call
        watched = call.watched is None or not call.watched.isdisjoint(variables.keys_of(variable))
        if not variables.differentiable(variable):
            dtype = tf.as_dtype(variables.raw(variable).dtype).base_dtype.name
            place = self._made_in_graph(variable) or self.creations.variable(variable)
            sure = "certain" if place is not None else "likely"
            return Diagnosis("integer_variable", "VarHandleOp", place, dtype, sure, order=-2)
        if call.watched is None or watched:
            return None
        if not variables.is_variable(variable):
            return self._tensor(asked)
        if not variables.is_trainable(variable):
            place = self.creations.frozen(variable) if _was_trainable(variable) else None
            place = place or self._own_line(variable) or innermost(call.stack)
            return Diagnosis("not_trainable", "not_trainable", place, order=-2)
        if call.story is not None and not call.story.watches_all:
            place = self.creations.tape_without_watching() or innermost(call.stack)
            return Diagnosis("not_watched", "not_watched", place, order=-2)
        return None

    def _tensor(self, asked: Asked) -> Diagnosis | None:
        """A plain tensor among the sources that the tape was not told to watch."""
        if not self.finding(asked.place).connected and self.finding(asked.place).cuts:
            return None
        place, name = self.creations.replaced(asked.variable)
        what = f"; {name} was given a new value here" if name else ""
        made = self._maker_line(asked)
        sure = "certain" if made is not None and place is not None and made == place else "likely"
        return Diagnosis(
            "replaced_by_tensor", "replaced", made or place or innermost(self.call.stack), what, sure, order=-2
        )

    def _maker_line(self, asked: Asked) -> Any:
        program = self.layout.program
        for value in self.layout.starts[asked.place]:
            for maker in program.makers[value]:
                return self.creations.place_of(program.ops[maker])
        return None

    def _made_in_graph(self, variable: Any) -> Any:
        """Where a variable of TensorFlow 1 was made: its handle is an operation with a stack."""
        op = (
            getattr(getattr(variables.raw(variable), "handle", None), "op", None)
            if not variables.is_eager(variable)
            else None
        )
        return innermost(_stack_of(op)) if op is not None else None

    def _own_line(self, variable: Any) -> Any:
        """The line of a variable the user made himself; None for one that a layer of Keras made."""
        place = self.creations.variable(variable)
        return place if place is not None and "trainable" in place.code else None

    def _connected_and_none(self, asked: Asked) -> Diagnosis | None:
        return Diagnosis("unexplained", "", innermost(self.call.stack), certainty="guess")


def gathered(
    found: Sequence[tuple[Asked, Diagnosis]], kind: str, step: int = -1, about: tuple[str, ...] = ()
) -> list[Cause]:
    """One cause for all variables with the same diagnosis, the first to mend first."""
    groups: dict[tuple[Any, ...], list[tuple[Asked, Diagnosis]]] = {}
    for asked, diagnosis in found:
        place = diagnosis.place
        key = (diagnosis.reason_id, diagnosis.op, place and (place.file, place.line))
        groups.setdefault(key, []).append((asked, diagnosis))
    ordered = sorted(groups.values(), key=_order)
    return [_cause(group, kind, step, about) for group in ordered]


_CERTAINTY = {"certain": 0, "likely": 1, "guess": 2}


def _order(group: Sequence[tuple[Asked, Diagnosis]]) -> tuple[int, int]:
    first = min(group, key=lambda entry: entry[1].order)[1]
    return _CERTAINTY[first.certainty] // 2, first.order


def _cause(group: Sequence[tuple[Asked, Diagnosis]], kind: str, step: int, about: tuple[str, ...]) -> Cause:
    diagnosis = min((d for _, d in group), key=lambda d: d.order)
    names = tuple(dict.fromkeys(asked.name for asked, _ in group))
    who = reasons.listed(names)
    words = reasons.words(diagnosis.reason_id, who, diagnosis.op, diagnosis.what, len(names) > 1)
    place = diagnosis.place
    evidence = diagnosis.evidence + about
    reason = words.reason
    if kind == "zero" and diagnosis.looped and diagnosis.reason_id not in ("never_used",):
        evidence = (*evidence, reasons.FLAT_IN_LOOP)
    return Cause(
        kind=kind,
        reason_id=diagnosis.reason_id,
        reason=reason,
        op=diagnosis.op,
        file=place.file if place is not None else "",
        line=place.line if place is not None else 0,
        code=place.code if place is not None else "",
        phase="forward",
        fix=words.fix,
        certainty=max((d.certainty for _, d in group), key=_CERTAINTY.__getitem__),
        variables=names,
        step=step,
        evidence=evidence,
    )


def _was_trainable(variable: Any) -> bool:
    """Whether a variable was made to be trained and frozen later: by its layer, or by Keras's own flag."""
    return bool(getattr(variables.raw(variable), "trainable", False)) or bool(getattr(variable, "_trainable", False))


def _stack_of(op: Any) -> Any:
    from tb_gradhealth.explain.source import stack_of

    return stack_of(op.traceback)
