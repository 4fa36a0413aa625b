"""The words for growth: what was multiplied again and again until it left the range of its type."""

from tb_gradhealth.explain.nonfinite import words
from tb_gradhealth.explain.nonfinite.growth import Growth
from tb_gradhealth.explain.nonfinite.reasons import Reason
from tb_gradhealth.explain.nonfinite.scene import Scene

_UNBOUNDED = frozenset({"Exp", "Expm1", "Square", "Pow", "Sinh", "Cosh"})


def reason_of_growth(growth: Growth, scene: Scene | None) -> Reason:
    """Why a value grew step by step; with a scene, until it was no longer finite."""
    what = "the gradient" if growth.origin.backward else "the value"
    factor = growth.factor
    pace = f" by a factor of about {factor:.3g}" if 1 < factor < 1e6 else ""
    text = f"{what} grows{pace} at each of {growth.repeats} repetitions of {growth.origin.op}"
    if scene is not None:
        text += f" until it exceeds the largest {scene.output.dtype}"
    evidence = [f"largest |value| at successive repetitions: {words.series(growth.series)}"]
    if growth.weight is not None and growth.weight.label:
        facts = growth.weight.facts
        spread = f", values {words.number(facts.low)} … {words.number(facts.high)}" if facts.numeric else ""
        evidence.append(f"multiplied each time with {growth.weight.label}{spread}")
    if scene is not None:
        evidence.append(words.made(scene.output))
    return Reason("growth_in_recurrence", text, _fix(growth), tuple(evidence))


def _fix(growth: Growth) -> str:
    if growth.origin.op in _UNBOUNDED:
        name = growth.origin.op.lower()
        return f"Do not feed {name} back into itself: use a bounded activation such as tanh or sigmoid."
    if growth.origin.backward:
        return (
            "Start with smaller weights: a standard deviation of 1/sqrt(fan_in) (Glorot or orthogonal initialiser) "
            "instead of 1; or shorten the sequence (truncated backpropagation). Clipping the gradient helps only "
            "while it is still finite."
        )
    return (
        "Bound the state: tanh instead of relu or a linear activation, an orthogonal recurrent initialiser (smaller "
        "weights), or normalisation between the repetitions."
    )
