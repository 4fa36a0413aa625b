"""Why gradients are exactly zero: a way that is cut inside a loop, or closed by the values of this very step.

The walk is the same as for None, with further edges taken as closed: where the values show that a derivative is zero
everywhere (a dead activation, a clip beyond its limits, a factor of zeros), or where an operation's derivative is zero
whatever comes. Without the values of the step only operations through which every way leads are named, as "likely".
"""

import contextlib
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from tb_gradhealth.explain import variables
from tb_gradhealth.explain.cut import Cut, Reach
from tb_gradhealth.explain.diagnosis import Diagnosis
from tb_gradhealth.explain.flat import CANDIDATES, Closed, closed_by_values
from tb_gradhealth.explain.none import Asked, Explainer, gathered
from tb_gradhealth.explain.program import Op
from tb_gradhealth.explain.source import Place, innermost
from tb_gradhealth.format.causes import Cause

_ACTIVATIONS = frozenset({"dead_activation", "saturated_activation", "softmax_one_unit"})


def causes(explainer: Explainer, asked: Sequence[Asked], step: int = -1) -> list[Cause]:
    """Causes of gradients that are exactly zero; empty if the zeros look harmless or nothing is known."""
    cut = explainer.none(asked, "zero", step)
    explained = {name for cause in cut for name in cause.variables}
    inner = _of_inner_calls(explainer, [item for item in asked if item.name not in explained], step)
    explained |= {name for cause in inner for name in cause.variables}
    left = [item for item in asked if item.name not in explained]
    places = frozenset(item.place for item in asked)
    found = [(item, d) for item in left if (d := _by_value(explainer, item, places)) is not None]
    return cut + inner + gathered(found, "zero", step)


def _of_inner_calls(explainer: Explainer, asked: Sequence[Asked], step: int) -> list[Cause]:
    """`tf.recompute_grad` and its like ask a tape of their own, with zeros for what is not connected."""
    found: list[Cause] = []
    for call in explainer.call.inner:
        if not call.zeros:
            continue
        own = [
            Asked(item.variable, item.name, at) for item in asked if (at := call.source_of(item.variable)) is not None
        ]
        if own:
            found += Explainer(call, explainer.observer).none(own, "zero", step)
    return found


def _by_value(explainer: Explainer, item: Asked, asked: frozenset[int]) -> Diagnosis | None:
    program = explainer.layout.program
    starts = explainer.layout.starts[item.place]
    closed = explainer.closed
    if closed is None:
        zeros = {} if explainer.call.eager else _zero_leaves(explainer)
        closed = explainer.closed = closed_by_values(program, explainer.reach.behind, zeros)
    for limit in (False, True):
        edges = {key: c.reason for key, c in closed.items() if limit or c.certain}
        reach = Reach(program, starts, edges)
        findings = [reach.finding(bit) for bit in range(len(starts))]
        if any(finding.connected for finding in findings) or not findings:
            continue
        cuts = [cut for finding in findings for cut in finding.cuts if (cut.op.index, cut.position) in closed]
        if cuts:
            return _diagnosis(explainer, closed, cuts[0], asked)
    if explainer.gates is None:
        everyone = [value for place in sorted(asked) for value in explainer.layout.starts[place]]
        explainer.gates = frozenset(op.index for op in _gates(explainer, everyone))
    return _only_way(explainer, starts)


def _zero_leaves(explainer: Explainer) -> dict[int, bool]:
    """Leaves of variables that are all zeros now (True), or that start so in a TensorFlow 1 graph (False)."""
    found = {}
    for leaf in explainer.layout.program.leaves.values():
        _, variable = explainer.variable_behind(leaf)
        if variable is None:
            continue
        with contextlib.suppress(Exception):
            owner = variables.raw(variable)
            if tf.executing_eagerly() and variables.is_eager(variable):
                if not np.any(np.asarray(owner)):
                    found[leaf] = True
            else:
                with owner.graph.as_default():
                    start = tf.get_static_value(owner.initial_value)
                if start is not None and not np.any(start):
                    found[leaf] = False
    return found


def _is_trained(explainer: Explainer, variable: object, asked: frozenset[int]) -> bool:
    """Whether a variable is among the sources, got an answer and is not one of those asked about."""
    at = explainer.call.source_of(variable)
    none = explainer.call.none
    return at is not None and at not in asked and at < len(none) and not none[at]


def _diagnosis(
    explainer: Explainer, closed: dict[tuple[int, int], Closed], cut: Cut, asked: frozenset[int]
) -> Diagnosis:
    reason = closed[cut.op.index, cut.position]
    op, place, what, reason_id, variable = cut.op, None, reason.what, reason.reason, None
    if reason.because is not None:  # the zeros come from an activation further up
        op, reason_id = reason.because, "dead_activation"
    if reason.weights is not None:
        name, variable = explainer.variable_behind(reason.weights)
        what = f"'{name}'" if name else "a variable"
        place = explainer.creations.variable(variable) if variable is not None else None
    place = place or _line(explainer, op, reason_id)
    evidence = reason.evidence
    if reason.weights is not None and _is_trained(explainer, variable, asked):
        evidence = (*evidence, f"{what} itself gets a gradient, so that this passes with its first update.")
    return Diagnosis(
        reason_id, op.kind or op.type, place, what, "certain" if reason.certain else "likely", evidence, op.index
    )


def _line(explainer: Explainer, op: Op, reason_id: str) -> Place | None:
    """The constructor of the layer for an activation inside one, else the user's line."""
    if reason_id in _ACTIVATIONS:
        from tb_gradhealth.explain.source import behind_keras

        if behind_keras(op.stack):
            made = explainer.creations.layer_of(op, "activation")
            if made is not None:
                return made
    return explainer.creations.place_of(op) or innermost(explainer.call.stack)


def _gates(explainer: Explainer, starts: Sequence[int]) -> list[Op]:
    """Operations that can be flat, whose values are not known, and through which every way to the loss leads."""
    program = explainer.layout.program
    found = []
    for op in program.ops:
        if op.type not in CANDIDATES or not any(explainer.reach.behind[value] for value in op.outputs):
            continue
        if any(
            program.tensors[value] is not None and hasattr(program.tensors[value], "_numpy") for value in op.outputs
        ):
            continue  # its values are known, and they say nothing
        reach = Reach(program, starts, {(op.index, position): "flat" for position in range(len(op.inputs))})
        if not any(reach.finding(bit).connected for bit in range(len(starts))):
            found.append(op)
    return found


def _only_way(explainer: Explainer, starts: Sequence[int]) -> Diagnosis | None:
    """Without values: the gate that explains all zeros alike, else the one that is flat most easily."""
    gates, common = _gates(explainer, starts), explainer.gates or frozenset()
    if not gates:
        return None
    op = min(gates, key=lambda op: (op.index not in common, CANDIDATES[op.type][0], op.index))
    reason_id = CANDIDATES[op.type][1]
    return Diagnosis(
        reason_id, op.type, _line(explainer, op, reason_id), "", "likely",
        ("The values of the step were not at hand; every way to the loss leads through this operation.",), op.index,
    )  # fmt: skip
