"""The rules, one file for each family of illnesses."""

from tb_gradhealth.health.rules.base import Rule
from tb_gradhealth.health.rules.nonfinite import HandledOverflow, Infinite, NotANumber
from tb_gradhealth.health.rules.nothing import ExpectedNone, NoGradient
from tb_gradhealth.health.rules.zero import ZeroGradient

RULES: tuple[type[Rule], ...] = (NotANumber, Infinite, NoGradient, ExpectedNone, HandledOverflow, ZeroGradient)

__all__ = ["RULES", "Rule"]
