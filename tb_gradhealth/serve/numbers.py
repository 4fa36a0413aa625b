"""Numbers for JSON, which has neither NaN nor Infinity."""

import math
from typing import Any

from tb_gradhealth.format.windows import Array


def finite(value: Any) -> float | None:
    """A number with nine significant digits, which tell any two float32 apart; None where it is not finite."""
    number = float(value)
    return float(f"{number:.9g}") if math.isfinite(number) else None


def finite_list(values: Array) -> list[float | None]:
    """`finite` of each element."""
    return [float(f"{v:.9g}") if math.isfinite(v) else None for v in values.tolist()]


def sound(value: Any) -> Any:
    """Whatever JSON value, with None for each number that is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: sound(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [sound(item) for item in value]
    return value
