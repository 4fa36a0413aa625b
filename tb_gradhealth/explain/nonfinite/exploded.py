"""A finite gradient that is enormous: what made it grow, without any NaN to begin from.

From the largest gradient back along the largest values. In this order: weights that have grown beyond all measure, an
operation that multiplies again and again, data that came in huge. Where none of these is found nothing is said.
"""

import dataclasses

from tb_gradhealth.explain.nonfinite import words
from tb_gradhealth.explain.nonfinite.facts import Facts, largest_finite
from tb_gradhealth.explain.nonfinite.growth import Growth, chain_of, growth_behind, size_of
from tb_gradhealth.explain.nonfinite.inputs import argument_of
from tb_gradhealth.explain.nonfinite.origins import Origins
from tb_gradhealth.explain.nonfinite.reasons import Reason
from tb_gradhealth.explain.nonfinite.trace import INPUT, Value

UNSCALED = 1e3
"""Data from here on was never scaled."""


@dataclasses.dataclass(frozen=True)
class Huge:
    """Data that came in huge.

    Attributes:
      value: the data.
      argument: which argument of `fit` it is; None if that is not known.
    """

    value: Value
    argument: int | None


def growth_of(starts: list[Value], origin: Origins) -> Growth | None:
    """The growth behind the largest of some values that have one."""
    for start in starts[:3]:
        found = growth_behind(start, origin)
        if found is not None:
            return found
    return None


def beyond_range(dtype: str) -> float:
    """Data from here on leaves the range of its type after two multiplications with itself."""
    return float(max(UNSCALED, largest_finite(dtype) ** 0.25))


def huge_data(start: Value, limit: float = UNSCALED) -> Huge | None:
    """The data at the end of the chain of largest values, if it is huge; else the largest data beside the chain."""
    links, first = chain_of(start)
    beside = [item for link in links for item in link.node.inputs]
    best: Value | None = None
    for value in (first, *beside):
        if _is_data(value) and size_of(value) >= limit and (best is None or size_of(value) > size_of(best)):
            best = value
    return None if best is None else Huge(best, argument_of(best.label))


def reason_of_huge(huge: Huge) -> Reason:
    """The reason where data was not scaled."""
    facts: Facts = huge.value.facts
    name = f" {huge.value.label!r}" if huge.value.label else ""
    target = huge.argument == 1
    what = "target" if target else "data"
    return Reason(
        "unscaled_target" if target else "unscaled_input",
        f"the {what}{name} was never scaled: it holds values up to {words.number(facts.largest)}, and the gradient "
        "grows with them",
        f"Scale the {what} to about 1 before training: subtract the mean and divide by the standard deviation "
        "(keras.layers.Normalization, sklearn.preprocessing.StandardScaler), or take the logarithm of counts and "
        "prices.",
        (words.extent(facts, "values"),),
        "likely",
    )


def _is_data(value: Value) -> bool:
    facts = value.facts
    return value.origin == INPUT and facts.numeric and facts.dtype.startswith(("float", "bfloat"))
