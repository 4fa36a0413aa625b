"""Numbers put into words: the evidence of a cause."""

import re

from tb_gradhealth.explain.nonfinite.facts import Facts

_WORD = re.compile(r"[a-z]+(?=[ ,;])")


def sentence(text: str) -> str:
    """With a capital letter, unless it begins with a name: ``exp(x)``, ``x:``, ``dense/kernel``."""
    return text[:1].upper() + text[1:] if _WORD.match(text) else text


def of(count: int, total: int, what: str, noun: str = "inputs") -> str:
    """``3 of 64 inputs were exactly 0``."""
    if total == 1:
        return f"its only {noun.removesuffix('s')} was {what}"
    return f"{count} of {total} {noun} {'was' if count == 1 else 'were'} {what}"


def number(value: float) -> str:
    """Four digits."""
    return f"{value:.4g}"


def extent(facts: Facts, noun: str = "inputs") -> str:
    """The range of the finite values."""
    return f"{noun} from {number(facts.low)} to {number(facts.high)}"


def made(facts: Facts) -> str:
    """What came out: ``3 of 64 results are NaN, 2 are Inf``."""
    parts = []
    if facts.nan:
        parts.append(f"{facts.nan} of {facts.size} results are NaN")
    if facts.inf:
        sign = "Inf" if not facts.minus_inf else "-Inf" if not facts.plus_inf else "±Inf"
        parts.append(f"{facts.inf} of {facts.size} results are {sign}")
    return ", ".join(parts)


def series(values: tuple[float, ...], shown: int = 8) -> str:
    """A series in at most `shown` numbers, the first and the last among them."""
    if len(values) > shown:
        places = [round(index * (len(values) - 1) / (shown - 1)) for index in range(shown)]
        values = tuple(values[place] for place in places)
    return ", ".join("Inf" if value == float("inf") else number(value) for value in values)


def listing(names: tuple[str, ...], shown: int = 4) -> str:
    """The first names, and how many more there are."""
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more} more" if more > 0 else "")
