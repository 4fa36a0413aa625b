"""The detailed numbers of a step, computed on steps chosen by a schedule: every n-th, beginning with the first.

Largest |g|, share of exact zeros, weight norm before the update, and update ratio: the norm of the change that was
really applied to a variable over its norm before. The ratio needs the weights from before the update, which a branch
taken on these steps only hands on; under XLA, where branches need static shapes, it is not known.
"""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.record.ring import Ring
from tb_gradhealth.record.schema import tf_variable
from tb_gradhealth.record.statistics import LARGEST_NORM, norm_of, real_values
from tb_gradhealth.record.tracing import under_xla

NOT_KNOWN = float("nan")


class Detail:
    """The detailed numbers of the step being run or traced.

    Args:
      ring: gets them.
      seq: the step's sequence number: int64 ``[]``.
      every: steps from one detailed step to the next, at least 1.
      scale: that the gradients carry, or None.
    """

    def __init__(self, ring: Ring, seq: Any, every: int, scale: Any = None) -> None:
        self._ring = ring
        self._seq = seq
        self._scale = scale
        self._due = tf.equal(tf.math.floormod(seq - 1, every), 0)
        self._before: list[Any] | None = None

    def begin(self, gradients: Sequence[Any], variables: Sequence[Any], will_update: bool) -> None:
        """Before the update: all but the update ratio.

        Args:
          will_update: `finish` is going to be called after the update.
        """
        weights = [tf_variable(variable) for variable in variables]
        keeps = will_update and not under_xla()

        def measured() -> list[Any]:
            values = [tf.convert_to_tensor(weight) for weight in weights]
            columns = [_gradient_numbers(gradient, self._scale) for gradient in gradients]
            largest, zero_share = zip(*columns, strict=True)
            norms = [norm_of(real_values(value)) for value in values]
            self._ring.write_detail(self._seq, tf.stack(largest), tf.stack(zero_share), tf.stack(norms))
            return [tf.identity(value) for value in values] if keeps else [tf.constant(0)]

        def skipped() -> list[Any]:
            return [tf.zeros([0], weight.dtype) for weight in weights] if keeps else [tf.constant(0)]

        before = tf.cond(self._due, measured, skipped)
        self._before = list(before) if keeps else None

    def finish(self, variables: Sequence[Any]) -> None:
        """After the update: the update ratio, if it can be known."""
        before = self._before
        if before is None:
            return
        weights = [tf_variable(variable) for variable in variables]

        def measured() -> Any:
            ratios = [_ratio(old, weight) for old, weight in zip(before, weights, strict=True)]
            self._ring.write_update_ratio(tf.stack(ratios))
            return tf.constant(True)

        tf.cond(self._due, measured, lambda: tf.constant(False))


def _gradient_numbers(gradient: Any, scale: Any) -> tuple[Any, Any]:
    """Largest |g| and share of exact zeros: float32 ``[]``; NaN without a gradient or without elements.

    The share is that of a sparse gradient's own rows.
    """
    if gradient is None:
        return tf.constant(NOT_KNOWN), tf.constant(NOT_KNOWN)
    values = real_values(gradient)
    if values.shape.num_elements() == 0:
        return tf.constant(NOT_KNOWN), tf.constant(NOT_KNOWN)
    is_complex = isinstance(gradient, tf.Tensor) and gradient.dtype.is_complex
    size = tf.norm(values, axis=-1) if is_complex else tf.abs(values)
    largest = tf.cast(tf.minimum(tf.reduce_max(size), LARGEST_NORM), tf.float32)
    if scale is not None:
        largest = largest / scale
    zeros = tf.math.count_nonzero(tf.equal(size, 0))
    return largest, tf.cast(zeros / tf.size(size, tf.int64), tf.float32)


def _ratio(old: Any, weight: Any) -> Any:
    change = norm_of(real_values(tf.cast(weight, old.dtype) - old))
    size = norm_of(real_values(old))
    return tf.where(size > 0, change / size, tf.where(change > 0, float("inf"), 0.0))
