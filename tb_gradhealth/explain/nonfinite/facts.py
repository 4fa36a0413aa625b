"""What a tensor holds, in numbers a reader can check: how many NaN, Inf, zeros, negatives, and the extremes.

Promises: facts are taken once and are small, so that a trace may drop a tensor and keep its facts; a value that cannot
be looked at (a resource, a string, a handle) has facts that say nothing bad about it.
"""

import dataclasses
import functools
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclasses.dataclass(frozen=True)
class Facts:
    """Counts and extremes of one tensor.

    Attributes:
      shape, dtype: of the tensor; dtype as NumPy or TensorFlow calls it (``"float32"``).
      size: number of elements.
      nan, plus_inf, minus_inf: how many elements are.
      zeros, negatives, ones: how many elements are exactly 0, below 0 (``-inf`` counted), exactly 1.
      low, high: smallest and largest finite element; NaN if there is none.
      least: smallest absolute value of a finite element that is not 0; NaN if there is none.
      mean_abs: mean of the absolute values of the finite elements; NaN if there is none.
      numeric: whether the tensor holds numbers at all.
    """

    shape: tuple[int, ...] = ()
    dtype: str = ""
    size: int = 0
    nan: int = 0
    plus_inf: int = 0
    minus_inf: int = 0
    zeros: int = 0
    negatives: int = 0
    ones: int = 0
    low: float = float("nan")
    high: float = float("nan")
    least: float = float("nan")
    mean_abs: float = float("nan")
    numeric: bool = False

    @property
    def inf(self) -> int:
        return self.plus_inf + self.minus_inf

    @property
    def bad(self) -> bool:
        return bool(self.nan or self.plus_inf or self.minus_inf)

    @property
    def largest(self) -> float:
        """Largest absolute value of a finite element, 0 if there is none."""
        return max(abs(self.low), abs(self.high)) if np.isfinite(self.low) else 0.0

    @property
    def is_mask(self) -> bool:
        """Holds an infinity on purpose: nothing but 0 (or 1) and infinities, or infinities alone."""
        return bool(self.inf) and not self.nan and self.zeros + self.ones + self.inf == self.size

    @property
    def is_binary(self) -> bool:
        """Holds zeros and ones alone."""
        return self.size > 0 and self.zeros + self.ones == self.size

    def __str__(self) -> str:
        parts = [
            f"{count} {word}"
            for count, word in ((self.nan, "NaN"), (self.plus_inf, "+Inf"), (self.minus_inf, "-Inf"))
            if count
        ]
        if np.isfinite(self.low):
            parts.append(f"values {self.low:.4g} … {self.high:.4g}")
        return f"{self.dtype}{list(self.shape)}: " + (", ".join(parts) or "empty")


NOTHING = Facts()


def facts_of(value: Any) -> Facts:
    """Facts of a tensor or an array; `NOTHING` where it cannot be read."""
    try:
        array = _to_numpy(value)
    except Exception:  # a handle, a variant, a deleted buffer: nothing can be said
        return NOTHING
    return facts_of_array(array, dtype=_dtype_name(value, array))


def facts_of_array(array: Array, dtype: str = "") -> Facts:
    """Facts of an array of numbers; `NOTHING` for other kinds."""
    dtype = dtype or str(array.dtype)
    if array.dtype.kind == "c":
        array = _magnitude_keeping_nan(array)
    if array.dtype.kind not in "fiub":
        return NOTHING
    base = Facts(shape=tuple(array.shape), dtype=dtype, size=int(array.size), numeric=True)
    if not array.size:
        return base
    if array.dtype.kind == "b":
        ones = int(np.count_nonzero(array))
        return dataclasses.replace(
            base,
            zeros=base.size - ones,
            ones=ones,
            low=float(array.min()),
            high=float(array.max()),
            mean_abs=ones / base.size,
        )
    finite = np.isfinite(array)
    whole = bool(finite.all())
    good = array if whole else array[finite]
    low = float(good.min()) if good.size else float("nan")
    high = float(good.max()) if good.size else float("nan")
    with np.errstate(over="ignore"):
        sizes = np.abs(good, dtype=np.float64)
    mean_abs = float(sizes.mean()) if good.size else float("nan")
    least = float(sizes.min(where=sizes > 0, initial=np.inf)) if good.size else float("nan")
    return dataclasses.replace(
        base,
        nan=0 if whole else int(np.count_nonzero(np.isnan(array))),
        plus_inf=0 if whole else int(np.count_nonzero(np.isposinf(array))),
        minus_inf=0 if whole else int(np.count_nonzero(np.isneginf(array))),
        zeros=base.size - int(np.count_nonzero(array)),
        negatives=int(np.count_nonzero(array < 0)),
        ones=int(np.count_nonzero(array == 1)),
        low=low,
        high=high,
        least=least if np.isfinite(least) else float("nan"),
        mean_abs=mean_abs,
    )


@functools.lru_cache(maxsize=64)
def largest_finite(dtype: str) -> float:
    """The largest finite number of a floating type: 65504 for float16."""
    if dtype == "bfloat16":
        return 3.3895313892515355e38
    try:
        return float(np.finfo(np.dtype(dtype)).max)
    except (TypeError, ValueError):
        return float(np.finfo(np.float32).max)


def _to_numpy(value: Any) -> Array:
    array = value.numpy() if hasattr(value, "numpy") else np.asarray(value)
    array = np.asarray(array)
    if array.dtype.kind == "V" or array.dtype.name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        array = array.astype(np.float32)
    return array


def _dtype_name(value: Any, array: Array) -> str:
    dtype = getattr(value, "dtype", array.dtype)
    return str(getattr(dtype, "name", dtype))


def _magnitude_keeping_nan(array: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.where(np.isnan(array), np.nan, np.abs(array))
