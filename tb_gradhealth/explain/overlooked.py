"""Variables that take part in the forward pass and are never trained: not tracked by their layer, or never handed over.

Promises: silent about whatever may be meant: a whole model or layer that is left alone (a teacher, a frozen base, the
other half of a GAN), variables that are not trainable, and everything that any gradient call did ask for.
"""

from collections.abc import Sequence
from typing import Any

from tb_gradhealth.explain import variables
from tb_gradhealth.explain.calls import GradientCall
from tb_gradhealth.explain.creation import holders, living_layers, owner_of
from tb_gradhealth.explain.diagnosis import Diagnosis
from tb_gradhealth.explain.none import Asked, Explainer, gathered
from tb_gradhealth.explain.observer import Observer
from tb_gradhealth.format.causes import Cause


def causes(observer: Observer, handed: Sequence[Any] = (), step: int = -1) -> list[Cause]:
    """Causes for the overlooked variables of all remembered calls.

    Args:
      observer: with the calls.
      handed: variables that are trained in another way.
      step: for the causes.
    """
    asked_for = {key for variable in handed for key in variables.keys_of(variable)}
    for call in observer.calls:
        for item in (*call.sources, *(s for inner in call.inner for s in inner.sources)):
            asked_for.update(variables.keys_of(item))
    found: list[tuple[Asked, Diagnosis]] = []
    seen: set[Any] = set()
    for call in observer.calls:
        if not any(variables.is_variable(item) for item in call.sources):
            continue
        left = [v for v in call.watched_variables if asked_for.isdisjoint(variables.keys_of(v))]
        left = [v for v in left if seen.isdisjoint(variables.keys_of(v)) and _belongs(v, call)]
        if not left:
            continue
        explainer = Explainer(call, observer)
        for variable in left:
            seen.update(variables.keys_of(variable))
            diagnosis = _judge(explainer, variable)
            if diagnosis is not None:
                found.append((Asked(variable, variables.name_of(variable), -1), diagnosis))
    return gathered(found, "none", step)


def _belongs(variable: Any, call: GradientCall) -> bool:
    """Whether a variable is the user's own and not a layer's as Keras made it."""
    if owner_of(variable) is not None:
        return False  # of a layer as Keras made it: leaving out a whole layer may be meant
    return variables.differentiable(variable) and variables.is_trainable(variable)


def _judge(explainer: Explainer, variable: Any) -> Diagnosis | None:
    if not explainer.reaches_loss(variable):
        return None
    place = explainer.creations.variable(variable)
    kept = [classes for classes, _ in holders(variable)]
    layers = {kind.__name__ for layer in living_layers() for kind in type(layer).__mro__[:1]}
    tracked_by_keras = any(not layers.isdisjoint(classes) for classes in kept)
    if tracked_by_keras or _inside_a_layer(explainer, variable):
        return Diagnosis("untracked", "untracked", place, certainty="certain" if place else "likely")
    return Diagnosis("not_handed_over", "not_handed_over", place, certainty="likely")


def _inside_a_layer(explainer: Explainer, variable: Any) -> bool:
    """Whether it is read inside the `call` of a Keras layer."""
    program = explainer.layout.program
    for key in variables.keys_of(variable):
        for user, _ in program.users[program.leaf(key)]:
            stack = program.ops[user].stack
            if any("layers/layer.py" in f[0].replace("\\", "/") or "base_layer.py" in f[0] for f in stack):
                return True
    return False
