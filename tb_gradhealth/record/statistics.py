"""What one step's gradients measure, computed in the graph: one look at every gradient, a second only where needed.

What naive code gets wrong, and this does not:
  * a sum of squares that overflows is not an Inf gradient, and one that underflows is not a zero gradient: such
    gradients are looked at again, scaled by their largest element;
  * float16 and bfloat16 are summed in float32, float64 in float64;
  * a sparse gradient is summed over repeated indices before it is squared, and never made dense;
  * ``==`` and ``!=`` compare identities in a TensorFlow 1 graph: it is `tf.equal` and `tf.not_equal` here;
  * a complex gradient is measured by |g|, with its two parts looked at for NaN and Inf separately.

Works eagerly, in a graph and under XLA: shapes are static there, and no operation leaves the device.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tb_gradhealth.record.tracing import under_xla

NO_GRADIENT = -1.0
"""Norm of a variable that got no gradient (None)."""

NOT_FINITE = -2.0
"""Norm of a gradient that holds a NaN or an Inf. No number of ours is ever NaN or Inf on the device, so that
`tf.debugging.enable_check_numerics` finds nothing of ours."""

UNKNOWN = -1.0
"""A number, never negative, that was not looked at."""

LARGEST_NORM = 3.4028235e38
SMALLEST_NORM = 1.1754944e-38
"""A norm beyond float32 is stored as its nearest end: the gradient was finite, and it was not zero."""

_SUSPECT_BELOW = 1e-13
"""Below this norm, squares of float32 elements may have been flushed to zero: look again."""

_WIDE = {tf.float16: tf.float32, tf.bfloat16: tf.float32, tf.float32: tf.float32, tf.float64: tf.float64}
_BITS = {tf.float32: (tf.int32, 0x7F800000), tf.float64: (tf.int64, 0x7FF0000000000000)}
"""The integer of the same width, and the bits of infinity. Of numbers without sign, bits compare as the numbers do."""


@dataclasses.dataclass(frozen=True)
class Measured:
    """One step's gradients, measured. All float32 tensors ``[variables]``.

    Attributes:
      norm: L2 norm; `NO_GRADIENT` for None, `NOT_FINITE` where an element is NaN or Inf, 0 only if every element is
        exactly 0.
      nans: number of NaN elements.
      infs: number of Inf elements.
      largest: largest finite |g|; `UNKNOWN` where it was not looked at.
      zero_share: share of exact zeros (of a sparse gradient: among its own rows); `UNKNOWN` where it was not looked at.
    """

    norm: Any
    nans: Any
    infs: Any
    largest: Any
    zero_share: Any

    def finite(self) -> Any:
        """Whether no gradient holds a NaN or an Inf: bool ``[]``."""
        return tf.reduce_all(tf.equal(self.nans + self.infs, 0.0))


def measure(gradients: Sequence[Any], thorough: Any = False) -> Measured:
    """Measures each gradient.

    Args:
      gradients: dense tensors, `tf.IndexedSlices` or None, at least one entry.
      thorough: bool ``[]``, look at every gradient twice.
    """
    with tf.name_scope("gradhealth"):
        look = FirstLook(gradients)
        again = tf.logical_or(look.suspect(), thorough)
        columns = tf.cond(again, lambda: astuple(look.again(thorough)), lambda: astuple(look.alone()))
        return Measured(*columns)


def astuple(measured: Measured) -> list[Any]:
    """The columns, in the order of the fields."""
    return [getattr(measured, field.name) for field in dataclasses.fields(measured)]


class FirstLook:
    """One pass over a step's gradients: all that a healthy step needs.

    Args:
      gradients: dense tensors, `tf.IndexedSlices` or None, at least one entry.

    A `tf.nn.l2_loss` for each: small gradients of one size put together first were not faster, of mixed sizes slower.
    """

    def __init__(self, gradients: Sequence[Any]) -> None:
        self._count = len(gradients)
        self._present = [i for i, g in enumerate(gradients) if g is not None and g.shape.num_elements() != 0]
        self._values = [real_values(gradients[index]) for index in self._present]
        self._blank = np.array([NO_GRADIENT if g is None else 0.0 for g in gradients], np.float32)
        if self._values:
            halves = [tf.nn.l2_loss(value) for value in self._values]
            if any(half.dtype != tf.float32 for half in halves):
                self._quick = tf.stack([tf.cast(tf.sqrt(2 * half), tf.float32) for half in halves])
            else:
                self._quick = tf.sqrt(2 * tf.stack(halves))

    def suspect(self) -> Any:
        """Whether a gradient needs a second look: bool ``[]``."""
        if not self._values:
            return tf.constant(False)
        return tf.logical_not(tf.reduce_all(_within(self._quick)))

    def norms(self) -> Any:
        """The norms, right where nothing is suspect: float32 ``[variables]``; `NO_GRADIENT` for None."""
        return self._spread(self._quick, self._blank) if self._values else tf.constant(self._blank)

    def alone(self) -> Measured:
        """What is known without a second look."""
        return Measured(self.norms(), *(tf.fill([self._count], blank) for blank in _BLANK[1:]))

    def again(self, thorough: Any = False) -> Measured:
        """Looks again at what is suspect.

        Args:
          thorough: bool ``[]``, look at all.
        """
        if not self._values:
            return self.alone()
        needed = tf.logical_or(tf.logical_not(_within(self._quick)), thorough)
        columns = _second_look(self._values, self._quick, needed)
        blanks = [self._blank, *(np.full(self._count, blank, np.float32) for blank in _BLANK[1:])]
        return Measured(*(self._spread(column, blank) for column, blank in zip(columns, blanks, strict=True)))

    def _spread(self, part: Any, blank: Any) -> Any:
        """The numbers of the present gradients at their places among all."""
        if len(self._present) == self._count:
            return part
        return tf.tensor_scatter_nd_update(tf.constant(blank), [[i] for i in self._present], part)


_BLANK = (NO_GRADIENT, 0.0, 0.0, UNKNOWN, UNKNOWN)
"""The numbers of a gradient that was not looked at twice; the norm is known."""


def unscaled(measured: Measured, scale: Any) -> Measured:
    """The same, divided by the loss scale that the gradients carry; NaN and Inf stay what they are."""
    norm = measured.norm
    divided = tf.maximum(norm / scale, SMALLEST_NORM)
    largest = measured.largest
    return dataclasses.replace(
        measured,
        norm=tf.where(norm > 0, divided, norm),
        largest=tf.where(largest > 0, largest / scale, largest),
    )


def real_values(gradient: Any) -> Any:
    """The gradient's elements as real numbers of at least float32; |g| of complex ones, NaN if either part is.

    Repeated indices of a sparse gradient are summed; the rows left over are 0.
    """
    if isinstance(gradient, tf.IndexedSlices):
        return _summed(gradient)
    return _real(gradient)


def _real(tensor: Any) -> Any:
    tensor = tf.convert_to_tensor(tensor)
    if tensor.dtype.is_complex:
        parts = tf.math.real(tensor), tf.math.imag(tensor)
        is_nan = tf.logical_or(tf.math.is_nan(parts[0]), tf.math.is_nan(parts[1]))
        return tf.where(is_nan, parts[0] + parts[1], tf.abs(tensor))
    return tf.cast(tensor, _WIDE.get(tensor.dtype, tf.float64))


def _summed(slices: tf.IndexedSlices) -> Any:
    values = _real(slices.values)
    indices = slices.indices
    if under_xla():  # tf.unique has no static shape
        order = tf.argsort(indices)
        ranked = tf.gather(indices, order)
        segment_of_rank = tf.cumsum(tf.cast(tf.not_equal(ranked, tf.roll(ranked, 1, axis=0)), tf.int32))
        segment = tf.scatter_nd(order[:, None], segment_of_rank, tf.shape(order))
        # The first rank may or may not open segment 1, so segments run from 0 or 1 to at most n.
        return tf.math.unsorted_segment_sum(values, segment, (indices.shape[0] or tf.size(indices)) + 1)
    unique = tf.unique(indices)
    return tf.math.unsorted_segment_sum(values, unique.idx, tf.size(unique.y))


def quick_norm(values: Any) -> Any:
    """L2 norm of real values in one pass: float32 ``[]``. May overflow or underflow; not finite if a value is not."""
    return tf.cast(tf.sqrt(2 * tf.nn.l2_loss(values)), tf.float32)


def _within(norms: Any) -> Any:
    """Where norms are what they seem: neither overflowed, nor underflowed, nor NaN. Three operations in all."""
    return tf.equal(norms, tf.raw_ops.ClipByValue(t=norms, clip_value_min=_SUSPECT_BELOW, clip_value_max=LARGEST_NORM))


def _second_look(values: Sequence[Any], quick: Any, needed: Any) -> list[Any]:
    """The columns of `Measured`, from a second look at each gradient that needs one."""
    looks = [_look(values[i].dtype)(tf.reshape(values[i], [-1]), quick[i], needed[i]) for i in range(len(values))]
    return [tf.stack(column) for column in zip(*looks, strict=True)]


def _look(dtype: Any) -> Callable[..., Any]:
    """`_careful` where it is needed, as a function traced once for all gradients of a dtype."""
    if dtype not in _looks:

        def look(values: Any, quick: Any, needed: Any) -> Any:
            blank = [quick, *(tf.constant(blank) for blank in _BLANK[1:])]
            return tf.cond(needed, lambda: _careful(values), lambda: blank)

        one = tf.TensorSpec([], tf.float32)
        signature = [tf.TensorSpec([None], dtype), one, tf.TensorSpec([], tf.bool)]
        # Inlined into a graph of many variables, its operations would take seconds to optimise.
        options = {"_noinline": True}
        _looks[dtype] = tf.function(look, input_signature=signature, autograph=False, experimental_attributes=options)
    return _looks[dtype]


_looks: dict[Any, Callable[..., Any]] = {}


def _careful(values: Any) -> list[Any]:
    """The numbers of `Measured` of real values ``[n]``, whatever their magnitude.

    Looks at bits: processors may take denormals for zero, and one pass over integers finds the largest.
    """
    integer, infinity = _BITS[values.dtype]
    bits = tf.bitwise.bitwise_and(tf.bitcast(values, integer), integer.max)
    nans = _count(bits > infinity)
    infs = _count(tf.equal(bits, infinity))
    is_finite = bits < infinity
    largest = tf.bitcast(tf.reduce_max(tf.where(is_finite, bits, tf.zeros_like(bits))), values.dtype)
    divisor = tf.where(largest > 0, largest, tf.ones_like(largest))
    scaled = tf.where(is_finite, values, tf.zeros_like(values)) / divisor
    norm = tf.cast(largest, tf.float64) * tf.cast(tf.sqrt(2 * tf.nn.l2_loss(scaled)), tf.float64)
    norm = tf.clip_by_value(norm, tf.constant(SMALLEST_NORM, tf.float64), tf.constant(LARGEST_NORM, tf.float64))
    zeros = _count(tf.equal(bits, 0))
    size = tf.cast(tf.size(values), tf.float32)
    norm = tf.where(zeros < size, tf.cast(norm, tf.float32), 0.0)
    norm = tf.where(nans + infs > 0, NOT_FINITE, norm)
    return [norm, nans, infs, tf.cast(tf.minimum(largest, LARGEST_NORM), tf.float32), zeros / size]


def _count(flags: Any) -> Any:
    return tf.cast(tf.math.count_nonzero(flags, dtype=tf.int32), tf.float32)
