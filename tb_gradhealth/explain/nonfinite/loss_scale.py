"""A loss scale that is too large: a float16 gradient overflows because the loss was multiplied by it."""

from collections.abc import Callable

from tb_gradhealth.explain.nonfinite import words
from tb_gradhealth.explain.nonfinite.facts import largest_finite
from tb_gradhealth.explain.nonfinite.growth import chain_of
from tb_gradhealth.explain.nonfinite.origins import Origin
from tb_gradhealth.explain.nonfinite.reasons import Reason
from tb_gradhealth.explain.nonfinite.scene import Scene
from tb_gradhealth.explain.nonfinite.trace import CONSTANT, VARIABLE, Node, Value

SCALE = 256.0
"""A number from here on is taken for a loss scale."""


def loss_scale_behind(value: Value, origin: Callable[[Node], Origin]) -> tuple[Origin, float] | None:
    """The multiplication that scaled the loss, and the scale, if a float16 gradient overflowed behind it; else None."""
    if value.facts.dtype != "float16":
        return None
    for link in chain_of(value)[0]:
        found = origin(link.node)
        if not found.backward or found.op != "Mul":
            continue
        for item in link.node.inputs:
            facts = item.facts
            if item.origin in (CONSTANT, VARIABLE) and facts.size == 1 and facts.largest >= SCALE:
                return found, facts.largest
    return None


def reason_of_scale(scale: float, scene: Scene) -> Reason:
    """The reason where a loss scale is too large."""
    return Reason(
        "loss_scale_overflow",
        f"the loss scale {words.number(scale)} makes the gradients exceed the largest {scene.output.dtype}, "
        f"{words.number(largest_finite(scene.output.dtype))}",
        "Lower the loss scale, or let keras.optimizers.LossScaleOptimizer choose it: it lowers the scale by itself and "
        "skips the update of a step that overflows; bfloat16 needs no scale.",
        (f"the overflow came in the derivative of {scene.origin.op}", words.made(scene.output)),
    )
