"""Words for people: which variables, since when."""

from collections.abc import Sequence


def who(names: Sequence[str], total: int) -> str:
    """``"dense/kernel"``, ``"dense/kernel and dense/bias"``, ``"5 of 13 variables (dense/kernel first)"``."""
    if not names:
        return "the whole group"
    if len(names) == 1:
        return names[0]
    if len(names) == total:
        return f"all {total} variables"
    if len(names) == 2:
        return f"{names[0]} and {names[1]}"
    return f"{len(names)} of {total} variables ({names[0]} first)"


def when(first: int, last: int, steps: int, *, still: bool, from_start: bool = False) -> str:
    """``"at step 7"``, ``"since step 7"``, ``"at 3 of the steps 7 to 20"``."""
    span = last - first + 1
    if still and steps >= span:
        return f"at every step so far ({plural(steps, 'step')})" if from_start else f"since step {first}"
    if steps == 1:
        return f"at step {first}"
    if steps >= span:
        return f"from step {first} to {last}"
    return f"at {steps} of the steps {first} to {last}"


def plural(count: int, noun: str) -> str:
    """``"1 step"``, ``"2 steps"``, ``"1,500 steps"``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def number(value: float) -> str:
    """Three significant digits: ``"0.00123"``, ``"1,840"``, ``"4.56e+12"``."""
    return f"{float(f'{value:.3g}'):,.0f}" if 1e3 <= abs(value) < 999_500 else f"{value:.3g}"


def kind(name: str) -> str:
    """A kind of incident as people write it: ``"NaN"``, ``"vanishing"``."""
    return {"nan": "NaN", "inf": "Inf", "none": "None"}.get(name, name)
