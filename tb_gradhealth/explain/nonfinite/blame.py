"""From births to causes: which comes first, on whose line, for which variables, and how sure.

Promises: the first cause is the one to mend first; a line that was found by reading the source, or an operation that
was inferred, makes the cause "likely" at best.
"""

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Any

from tb_gradhealth.explain import source
from tb_gradhealth.explain.nonfinite import inputs, words
from tb_gradhealth.explain.nonfinite.data_lines import sought, source_of_data
from tb_gradhealth.explain.nonfinite.divergence import huge_weight, reason_of_divergence
from tb_gradhealth.explain.nonfinite.expand import expand, is_call
from tb_gradhealth.explain.nonfinite.exploded import Huge, beyond_range, growth_of, huge_data, reason_of_huge
from tb_gradhealth.explain.nonfinite.growth import ORDINARY, Growth, chain_of, growth_behind, is_overflow, size_of
from tb_gradhealth.explain.nonfinite.loss_scale import loss_scale_behind, reason_of_scale
from tb_gradhealth.explain.nonfinite.origins import Origin, Origins, nodes_of, replica_in
from tb_gradhealth.explain.nonfinite.reasons import Reason, reason_of
from tb_gradhealth.explain.nonfinite.scene import Scene, is_hidden
from tb_gradhealth.explain.nonfinite.trace import Node, Trace, Value
from tb_gradhealth.explain.nonfinite.walk import Birth, births
from tb_gradhealth.explain.nonfinite.written import Written
from tb_gradhealth.format.causes import Cause

MOST_CAUSES = 3
MOST_BIRTHS = 12


@dataclasses.dataclass(frozen=True)
class Gradient:
    """The gradient of one variable (dense, or the values of a sparse one)."""

    name: str
    value: Value


@dataclasses.dataclass(frozen=True)
class Question:
    """A bad step, run once more.

    Attributes:
      trace: its operations.
      gradients: of all variables that have one.
      loss: its value in the trace; None if not known.
      stack: where the step was started: where to look for the user's files.
      step, replica: for the causes.
      exact: whether the run repeated the step itself: the same batch, weights and random numbers.
      exploded: the gradients are finite and enormous, and asked about for that.
    """

    trace: Trace
    gradients: tuple[Gradient, ...]
    loss: Value | None = None
    stack: source.Stack = ()
    step: int = -1
    replica: int = -1
    exact: bool = True
    exploded: bool = False


def causes_of(question: Question) -> list[Cause]:
    """The causes of the NaN and Inf among the gradients, or in the loss if the gradients are finite."""
    return [_in_sentences(cause) for cause in _Blame(question).causes()]


def _in_sentences(cause: Cause) -> Cause:
    evidence = tuple(words.sentence(text) for text in cause.evidence)
    return dataclasses.replace(cause, reason=words.sentence(cause.reason), evidence=evidence)


class _Blame:
    def __init__(self, question: Question):
        self._question = question
        self._origin = Origins()
        self._consumers: dict[int, list[Node]] | None = None
        self._entered: set[int] = set()
        self.problems: list[str] = []

    def causes(self) -> list[Cause]:
        question = self._question
        if question.exploded:
            return self._explosion()
        bad = sorted((g for g in question.gradients if g.value.facts.bad), key=_turned_bad)
        starts = [gradient.value for gradient in bad]
        if not starts and question.loss is not None and question.loss.facts.bad:
            starts = [question.loss]
        found: list[Cause] = []
        for birth in sorted(births(starts, self._enter), key=self._place_in_program)[:MOST_BIRTHS]:
            cause = self._cause(birth, bad)
            if cause.reason_id in _ALONE:
                return self._with_variables([cause], bad)
            if not any(_same(cause, other) for other in found):
                found.append(cause)
        return self._with_variables(found[:MOST_CAUSES], bad)

    def _explosion(self) -> list[Cause]:
        large = sorted(self._question.gradients, key=lambda gradient: size_of(gradient.value), reverse=True)
        if not large or any(gradient.value.facts.bad for gradient in large):
            return []
        starts = [gradient.value for gradient in large]
        base = Cause(
            kind="exploding",
            reason_id="",
            reason="",
            op="",
            variables=tuple(gradient.name for gradient in large if size_of(gradient.value) > 0),
            step=self._question.step,
            replica=self._question.replica,
        )
        birth = self._enlarged(starts[0])
        if birth.node is None:
            return []
        scene = self._scene(birth.node, self._origin(birth.node), birth.value)
        weight = huge_weight(birth.value)
        if weight is not None:
            return [self._diverged(base, scene, weight, birth, "the gradient is largest")]
        growth = growth_of(starts, self._origin)
        if growth is not None:
            return [self._grown(base, scene, growth, birth, finite=True)]
        huge = huge_data(birth.value)
        if huge is not None:
            return [self._unscaled(base, scene, huge, birth)]
        return []

    def _enlarged(self, value: Value) -> Birth:
        """A gradient as the end of a route along the largest values; functions called on the way are entered."""
        for _ in range(64):
            before = len(self._entered)
            links, _first = chain_of(value)
            for link in links:
                self._enter(link.node)
            if len(self._entered) == before:
                break
        return Birth(value, value.node, tuple(link.node for link in links))

    def _unscaled(self, base: Cause, scene: Scene, huge: Huge, birth: Birth) -> Cause:
        takes = next((node for node in reversed(birth.route) if huge.value in node.inputs), birth.route[-1])
        origin = self._origin(takes)
        use = origin.place
        made = sought(source_of_data, use, origin.stack, huge.argument)
        more = _where_word(use, "it enters the step") if made is not None and made != use else ()
        return self._finish(base, scene, reason_of_huge(huge), "input", made or use, True, more)

    def _place_in_program(self, birth: Birth) -> tuple[int, ...]:
        """Where the operation stands in the forward pass; of a derivative, the operation it belongs to."""
        if birth.node is None:
            return ()
        origin = self._origin(birth.node)
        if not origin.backward or origin.forward is None:
            return birth.node.index
        runs = nodes_of(self._question.trace.nodes, origin.forward)
        return min((node.index for node in runs), default=birth.node.index)

    def _enter(self, node: Node) -> None:
        if is_call(node) and id(node) not in self._entered:
            self._entered.add(id(node))
            problem = expand(node, self._question.trace, ORDINARY if self._question.exploded else math.inf)
            if problem:
                self.problems.append(problem)
            self._consumers = None

    def _cause(self, birth: Birth, bad: Sequence[Gradient]) -> Cause:
        kind = "nan" if any(g.value.facts.nan for g in bad) or (not bad and birth.value.facts.nan) else "inf"
        base = Cause(
            kind=kind, reason_id="", reason="", op="", step=self._question.step, replica=self._question.replica
        )
        if birth.node is None:
            return inputs.cause(base, birth, self._written(birth), self._origin, self._question.stack)
        return self._born(base, birth, birth.node)

    def _born(self, base: Cause, birth: Birth, node: Node) -> Cause:
        origin = self._origin(node)
        scene = self._scene(node, origin, birth.value)
        if is_overflow(node) or origin.op == "Exp":
            weight = huge_weight(birth.value)
            if weight is not None:
                return self._diverged(base, scene, weight, birth)
            scale = loss_scale_behind(birth.value, self._origin)
            if scale is not None:
                place, likely, more = self._place(scale[0], birth)
                return self._finish(base, scene, reason_of_scale(scale[1], scene), scale[0].op, place, likely, more)
            growth = growth_behind(birth.value, self._origin)
            if growth is not None:
                return self._grown(base, scene, growth, birth)
            huge = huge_data(birth.value, beyond_range(scene.output.dtype))
            if huge is not None and not scene.within_file("ops/clip_ops.py"):
                return self._unscaled(base, scene, huge, self._enlarged(birth.value))
        reason = reason_of(scene)
        place, likely, more = self._place(origin, birth)
        return self._finish(base, scene, reason, origin.op, place, likely, more)

    def _diverged(
        self, base: Cause, scene: Scene, weight: Value, birth: Birth, what: str = "it overflowed first"
    ) -> Cause:
        written = self._written(birth)
        place = written.optimizer() or written.update()
        reason = reason_of_divergence(weight, self._question.step)
        here, _, more = self._place(scene.origin, birth)
        more = (*more, f"{what} in {scene.origin.op}", *_where_word(here, "that is"))
        return self._finish(base, scene, reason, "optimizer", place or here, True, more)

    def _grown(self, base: Cause, scene: Scene, growth: Growth, birth: Birth, finite: bool = False) -> Cause:
        from tb_gradhealth.explain.nonfinite.recurrence import reason_of_growth

        written = self._written(birth)
        reason = reason_of_growth(growth, None if finite else scene)
        place, likely, more = self._place(growth.origin, birth)
        weight = growth.weight.label if growth.weight is not None else ""
        if weight and not growth.origin.layers:
            made = written.initial_value(weight)
            if made is not None:
                more = (*more, *_where_word(place, "multiplied with it"))
                place, likely = made, True
        return self._finish(base, scene, reason, growth.op, place, likely, more)

    def _finish(
        self, base: Cause, scene: Scene, reason: Reason, op: str, place: Any, likely: bool, more: Iterable[str]
    ) -> Cause:
        certainty = reason.certainty
        if certainty == "certain" and (likely or not scene.origin.exact or not self._question.exact):
            certainty = "likely"
        return dataclasses.replace(
            base,
            replica=max(base.replica, replica_in(scene.node)),
            reason_id=reason.id,
            reason=reason.text,
            op=op,
            file=place.file if place else "",
            line=place.line if place else 0,
            code=place.code if place else "",
            phase="backward" if scene.origin.backward else "forward",
            fix=reason.fix,
            certainty=certainty,
            evidence=(*reason.evidence, *more, *self._about_loss(scene)),
        )

    def _scene(self, node: Node, origin: Origin, value: Value) -> Scene:
        forward = tuple(_nearest(nodes_of(self._question.trace.nodes, origin.forward), node)) if origin.forward else ()
        watched = [output for item in (forward or (node,)) for output in item.outputs]
        if self._consumers is None:
            self._consumers = self._question.trace.consumers()
        after = origin.stack[source.innermost_index(origin.stack) + 1 :]
        return Scene(
            node=node,
            origin=origin,
            output=value.facts,
            forward=forward,
            hidden=is_hidden(watched, self._consumers),
            functions=tuple(frame[2] for frame in after),
            files=tuple(frame[0].replace("\\", "/") for frame in after),
        )

    def _place(self, origin: Origin, birth: Birth) -> tuple[source.Place | None, bool, tuple[str, ...]]:
        """The line to show, whether it was found by reading the source, and what else to say about places."""
        place = origin.place
        if place is not None and not source.behind_keras(origin.stack):
            return place, False, ()
        written = self._written(birth)
        after = [frame[0].replace("\\", "/") for frame in origin.stack[source.innermost_index(origin.stack) + 1 :]]
        if any("/losses/" in file or file.endswith("compile_utils.py") for file in after):
            if place is not None and not _only_fit(place, origin.stack):
                return place, False, ()
            return (written.loss() or place), True, ()
        for name in reversed(origin.layers):
            made = written.layer(name) if name else None
            if made is not None:
                return made, True, (f"in the layer {name!r}", *_where_word(place, "called"))
        return place, place is None, ()

    def _written(self, birth: Birth) -> Written:
        frames = list(self._question.stack)
        for node in (*((birth.node,) if birth.node else ()), *birth.route[:3], *birth.route[-3:]):
            frames = [*self._origin(node).stack, *frames]
        return Written(tuple(frames))

    def _about_loss(self, scene: Scene) -> tuple[str, ...]:
        loss = self._question.loss
        if loss is None or not loss.facts.numeric:
            return ()
        if not loss.facts.bad:
            value = f" ({words.number(loss.facts.high)})" if loss.facts.size == 1 else ""
            return (f"the loss was finite{value}",)
        return (f"the loss was {'NaN' if loss.facts.nan else 'Inf'}",)

    def _with_variables(self, causes: list[Cause], bad: Sequence[Gradient]) -> list[Cause]:
        names = tuple(gradient.name for gradient in bad)
        if not causes or not names:
            return causes
        healthy = sum(1 for gradient in self._question.gradients if not gradient.value.facts.bad)
        order = f"the first variable to turn bad was {names[0]}"
        order += f", then {words.listing(names[1:])}" if len(names) > 1 else ""
        order += f"; {healthy} stayed finite" if healthy else ""
        return [
            dataclasses.replace(
                cause, variables=names, evidence=(*cause.evidence, order) if not index else cause.evidence
            )
            for index, cause in enumerate(causes)
        ]


_ALONE = frozenset({"growth_in_recurrence", "bad_weights", "diverged"})
"""Reasons of which everything else is a consequence."""


def _turned_bad(gradient: Gradient) -> Any:
    node = gradient.value.node
    return node.index if node is not None else ()


def _same(cause: Cause, other: Cause) -> bool:
    return (cause.reason_id, cause.file, cause.line) == (other.reason_id, other.file, other.line)


def _nearest(nodes: Sequence[Node], node: Node) -> list[Node]:
    """The executions of a forward operation, the one that shares a value with the gradient operation first."""
    taken = {id(value) for value in node.inputs}
    taken |= {id(value) for item in node.inputs if item.node is not None for value in item.node.inputs}

    def shares(other: Node) -> bool:
        return any(id(value) in taken for value in (*other.inputs, *other.outputs))

    return sorted(nodes, key=shares, reverse=True)[:4]


def _where_word(place: source.Place | None, what: str) -> tuple[str, ...]:
    return (f"{what} in {source.shown(place.file)}:{place.line}: {place.code}",) if place is not None else ()


def _only_fit(place: source.Place, stack: source.Stack) -> bool:
    """Whether the user's innermost frame merely starts the training."""
    return any(name in ("fit", "train_on_batch", "evaluate") for _, _, name in stack[source.innermost_index(stack) :])
