"""What one step's gradients measure, computed in the graph: one look at every gradient, a second only where needed.

What naive code gets wrong, and this does not:
  * a sum of squares that overflows is not an Inf gradient, and one that underflows is not a zero gradient: such
    gradients are measured again, scaled by their largest element;
  * float16 and bfloat16 are summed in float32, float64 in float64;
  * a sparse gradient is summed over repeated indices before it is squared, and never made dense;
  * ``==`` and ``!=`` compare identities in a TensorFlow 1 graph: it is `tf.equal` and `tf.not_equal` here;
  * a complex gradient is measured by |g|, with its two parts looked at for NaN and Inf separately.

Works eagerly, in a graph and under XLA: shapes are static there, and no operation leaves the device.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.record.tracing import under_xla

NO_GRADIENT = -1.0
"""Norm of a variable that got no gradient (None)."""

LARGEST_NORM = 3.4028235e38
SMALLEST_NORM = 1.1754944e-38
"""A norm beyond float32 is stored as its nearest end: the gradient was finite, and it was not zero."""

_SUSPECT_BELOW = 1e-13
"""Below this norm, squares of float32 elements may have been flushed to zero: measure again."""

_ALONE = 1 << 16
"""Gradients of at least this many elements are measured again one by one, smaller ones together."""

_WIDE = {tf.float16: tf.float32, tf.bfloat16: tf.float32, tf.float32: tf.float32, tf.float64: tf.float64}
_BITS = {tf.float32: tf.int32, tf.float64: tf.int64}


@dataclasses.dataclass(frozen=True)
class Measured:
    """One step's gradients, measured. All float32 tensors ``[variables]``.

    Attributes:
      norm: L2 norm; `NO_GRADIENT` for None, NaN where an element is NaN or Inf, 0 only if every element is exactly 0.
      nans: number of NaN elements.
      infs: number of Inf elements.
    """

    norm: Any
    nans: Any
    infs: Any

    def finite(self) -> Any:
        """Whether no gradient holds a NaN or an Inf: bool ``[]``."""
        return tf.reduce_all(tf.equal(self.nans + self.infs, 0.0))


def measure(gradients: Sequence[Any]) -> Measured:
    """Norm, NaN count and Inf count of each gradient.

    Args:
      gradients: dense tensors, `tf.IndexedSlices` or None, at least one entry.
    """
    with tf.name_scope("gradhealth"):
        present = [index for index, gradient in enumerate(gradients) if gradient is not None]
        if not present:
            nothing = tf.zeros([len(gradients)])
            return Measured(nothing + NO_GRADIENT, nothing, nothing)
        values = [real_values(gradients[index]) for index in present]
        quick = tf.stack([_quick_norm(value) for value in values])
        suspect = _suspect(quick)
        careful = tf.cond(
            tf.reduce_any(suspect),
            lambda: _second_look(values, quick, suspect),
            lambda: (quick, tf.zeros_like(quick), tf.zeros_like(quick)),
        )
        return Measured(
            *(_scatter(part, present, len(gradients), fill) for part, fill in zip(careful, _FILL, strict=True))
        )


_FILL = (NO_GRADIENT, 0.0, 0.0)


def unscaled(measured: Measured, scale: Any) -> Measured:
    """The same with norms divided by the loss scale that the gradients carry; NaN and Inf stay what they are."""
    norm = measured.norm
    divided = tf.maximum(norm / scale, SMALLEST_NORM)
    keep = tf.logical_or(tf.equal(norm, NO_GRADIENT), tf.logical_not(norm > 0))
    return Measured(tf.where(keep, norm, divided), measured.nans, measured.infs)


def real_values(gradient: Any) -> Any:
    """The gradient's elements as real numbers of at least float32: any shape, complex ones as [..., 2] parts.

    Repeated indices of a sparse gradient are summed; the rows left over are 0.
    """
    if isinstance(gradient, tf.IndexedSlices):
        return _summed(gradient)
    return _real(gradient)


def norm_of(values: Any) -> Any:
    """L2 norm of real values: float32 ``[]``, clamped to float32's range. The careful way, for any magnitude."""
    return _careful(values)[0]


def _real(tensor: Any) -> Any:
    tensor = tf.convert_to_tensor(tensor)
    if tensor.dtype.is_complex:
        return tf.stack([tf.math.real(tensor), tf.math.imag(tensor)], axis=-1)
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


def _quick_norm(values: Any) -> Any:
    return tf.cast(tf.sqrt(2 * tf.nn.l2_loss(values)), tf.float32)


def _suspect(norms: Any) -> Any:
    return tf.logical_not(tf.logical_and(norms >= _SUSPECT_BELOW, norms <= LARGEST_NORM))


def _second_look(values: Sequence[Any], quick: Any, suspect: Any) -> tuple[Any, Any, Any]:
    """Measures suspect gradients again; the large ones each only if it is suspect itself."""
    alone = [i for i, value in enumerate(values) if (value.shape.num_elements() or _ALONE) >= _ALONE]
    together = [i for i in range(len(values)) if i not in set(alone)]
    results: dict[int, tuple[Any, Any, Any]] = {}
    if together:
        chosen = [values[i] for i in together]
        plain = [(quick[i], tf.zeros([]), tf.zeros([])) for i in together]
        any_suspect = tf.reduce_any(tf.gather(suspect, together))
        looked = tf.cond(any_suspect, lambda: [_careful(value) for value in chosen], lambda: plain)
        results.update(zip(together, looked, strict=True))
    for i in alone:
        results[i] = tf.cond(
            suspect[i],
            lambda value=values[i]: _careful(value),
            lambda norm=quick[i]: (norm, tf.zeros([]), tf.zeros([])),
        )
    norms, nans, infs = zip(*(results[i] for i in range(len(values))), strict=True)
    return tf.stack(norms), tf.stack(nans), tf.stack(infs)


def _careful(values: Any) -> tuple[Any, Any, Any]:
    """Norm, NaN count and Inf count of real values, whatever their magnitude: three float32 ``[]``."""
    if values.shape.num_elements() == 0:
        return tf.zeros([]), tf.zeros([]), tf.zeros([])
    values = tf.reshape(values, [-1])
    is_nan, is_inf = tf.math.is_nan(values), tf.math.is_inf(values)
    nans = tf.cast(tf.math.count_nonzero(is_nan), tf.float32)
    infs = tf.cast(tf.math.count_nonzero(is_inf), tf.float32)
    finite = tf.where(tf.logical_or(is_nan, is_inf), tf.zeros_like(values), values)
    largest = tf.reduce_max(tf.abs(finite))
    scaled = finite / tf.where(largest > 0, largest, tf.ones_like(largest))
    norm = tf.cast(largest, tf.float64) * tf.cast(tf.sqrt(2 * tf.nn.l2_loss(scaled)), tf.float64)
    norm = tf.clip_by_value(norm, tf.constant(SMALLEST_NORM, tf.float64), tf.constant(LARGEST_NORM, tf.float64))
    norm = tf.where(_any_bit(values), tf.cast(norm, tf.float32), 0.0)
    return tf.where(nans + infs > 0, float("nan"), norm), nans, infs


def _any_bit(values: Any) -> Any:
    """Whether any element differs from zero: looks at bits, since processors may take denormals for zero."""
    whole = _BITS[values.dtype]
    bits = tf.bitcast(values, whole)
    return tf.reduce_any(tf.not_equal(tf.bitwise.bitwise_and(bits, whole.max), 0))


def _scatter(part: Any, present: Sequence[int], count: int, fill: float) -> Any:
    if len(present) == count:
        return part
    return tf.tensor_scatter_nd_update(tf.fill([count], fill), [[i] for i in present], part)
