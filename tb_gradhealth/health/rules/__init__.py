"""The rules, one file for each family of illnesses."""

from tb_gradhealth.health.rules.base import Rule
from tb_gradhealth.health.rules.clipping import ClippedAlways
from tb_gradhealth.health.rules.exploding import ExplodedAtOnce, Growing
from tb_gradhealth.health.rules.loss import LossInfinite, LossNotANumber
from tb_gradhealth.health.rules.loss_scale import LossScaleCollapsed
from tb_gradhealth.health.rules.nonfinite import HandledOverflow, Infinite, NotANumber
from tb_gradhealth.health.rules.nothing import ExpectedNone, NoGradient
from tb_gradhealth.health.rules.oscillating import Oscillating
from tb_gradhealth.health.rules.spiking import Spiking
from tb_gradhealth.health.rules.updates import UpdatesTooLarge, UpdatesTooSmall
from tb_gradhealth.health.rules.vanishing import Faded, Saturated, VanishingWithDepth
from tb_gradhealth.health.rules.zero import ZeroGradient

RULES: tuple[type[Rule], ...] = (
    NotANumber,
    Infinite,
    NoGradient,
    ExpectedNone,
    HandledOverflow,
    ZeroGradient,
    ExplodedAtOnce,
    Growing,
    VanishingWithDepth,
    Faded,
    Saturated,
    Spiking,
    Oscillating,
    UpdatesTooLarge,
    UpdatesTooSmall,
    ClippedAlways,
    LossScaleCollapsed,
    LossInfinite,
    LossNotANumber,
)

__all__ = ["RULES", "Rule"]
