"""Why gradients are exactly zero."""

from tb_gradhealth.explain.none import Asked, Explainer
from tb_gradhealth.format.causes import Cause


def causes(explainer: Explainer, asked: list[Asked], step: int = -1) -> list[Cause]:
    return explainer.none(asked, "zero", step)
