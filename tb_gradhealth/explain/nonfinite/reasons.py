"""From a scene to its reason: what went wrong in plain words, the numbers that show it, and the change that mends it.

Rules live in `forward_rules` and `backward_rules`, by type of the forward operation; this module picks the rule and
adds what is true of every reason: a mask that hides the value and not its derivative.
"""

import contextlib
import dataclasses
from collections.abc import Callable

from tb_gradhealth.explain.nonfinite import words
from tb_gradhealth.explain.nonfinite.growth import is_overflow
from tb_gradhealth.explain.nonfinite.scene import Scene


@dataclasses.dataclass(frozen=True)
class Reason:
    """Attributes:
    id: short and stable.
    text: one sentence.
    fix: the change that mends it.
    evidence: sentences with numbers.
    certainty: `tb_gradhealth.format.causes.CERTAINTIES`.
    """

    id: str
    text: str
    fix: str
    evidence: tuple[str, ...] = ()
    certainty: str = "certain"


Rule = Callable[[Scene], Reason | None]

DOUBLE_WHERE = (
    "Masking the result with tf.where does not mask its derivative: make the input safe first, as in "
    "tf.where(ok, f(tf.where(ok, x, 1.0)), 0.0)."
)


def reason_of(scene: Scene) -> Reason:
    """The reason of a birth; always one, if only that the operation's result was not finite."""
    from tb_gradhealth.explain.nonfinite import backward_rules, forward_rules

    rules = backward_rules.RULES if scene.origin.backward else forward_rules.RULES
    found = None
    for rule in (*rules.get(scene.origin.op, ()), *rules.get("", ())):
        with contextlib.suppress(IndexError):  # of a glimpsed step not every input is known
            found = rule(scene)
        if found is not None:
            break
    if found is None:
        found = _unknown(scene)
    return _with_mask(scene, found) if scene.hidden else found


def _unknown(scene: Scene) -> Reason:
    evidence = tuple(words.extent(facts) for facts in scene.numbers[:2])
    if scene.origin.backward:
        return Reason(
            "derivative_not_finite",
            f"the derivative of {scene.origin.op} is not finite at the values that went into it",
            f"Keep the inputs of this {scene.origin.op} away from the values at which its derivative has a pole, for "
            "instance with tf.clip_by_value or a small epsilon.",
            evidence,
            "likely",
        )
    return Reason(
        "result_not_finite",
        f"{scene.origin.op} made {_what(scene)} out of finite values",
        f"Keep the inputs of this {scene.origin.op} within the range where it is defined, for instance with "
        "tf.clip_by_value.",
        evidence,
        "likely",
    )


def _what(scene: Scene) -> str:
    return "a NaN" if scene.output.nan else "an Inf"


def _with_mask(scene: Scene, reason: Reason) -> Reason:
    if is_overflow(scene.node) and not scene.origin.backward:
        return reason
    return dataclasses.replace(
        reason,
        text=f"{reason.text}; tf.where masks the value there but not the derivative, and 0 × Inf or 0 × NaN is NaN",
        fix=f"{DOUBLE_WHERE} Here: {reason.fix[0].lower()}{reason.fix[1:]}",
    )
