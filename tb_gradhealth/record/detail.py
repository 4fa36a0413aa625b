"""The detailed numbers of a step, computed on steps chosen by a schedule: every n-th, beginning with the first.

Largest |g| and share of exact zeros (`statistics`), weight norm before the update, and update ratio: the norm of the
change that was really applied to a variable over its norm before. The ratio needs the weights from before the update,
which a branch taken on these steps only hands on; under XLA, where branches need static shapes, it is not known.
"""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.record.ring import Ring
from tb_gradhealth.record.schema import tf_variable
from tb_gradhealth.record.statistics import UNKNOWN, Measured, quick_norm, real_values
from tb_gradhealth.record.tracing import under_xla


class Detail:
    """The detailed numbers of the step being run or traced.

    Args:
      ring: gets them.
      seq: the step's sequence number: int64 ``[]``.
      due: bool ``[]``, whether this step is one of those chosen.
    """

    def __init__(self, ring: Ring, seq: Any, due: Any) -> None:
        self._ring = ring
        self._seq = seq
        self._due = due
        self._before: list[Any] | None = None

    def begin(self, measured: Measured, variables: Sequence[Any], will_update: bool) -> None:
        """Before the update: all but the update ratio.

        Args:
          measured: thoroughly, where the step is due.
          will_update: `finish` is going to be called after the update.
        """
        weights = [tf_variable(variable) for variable in variables]
        keeps = will_update and not under_xla()

        def taken() -> list[Any]:
            norms = tf.stack([_norm(weight) for weight in weights])
            self._ring.write_detail(self._seq, measured.largest, measured.zero_share, norms)
            return [tf.identity(weight) for weight in weights] if keeps else [tf.constant(0)]

        def passed() -> list[Any]:
            return [tf.zeros([0], weight.dtype) for weight in weights] if keeps else [tf.constant(0)]

        before = tf.cond(self._due, taken, passed)
        self._before = list(before) if keeps else None

    def finish(self, variables: Sequence[Any]) -> None:
        """After the update: the update ratio, if it can be known."""
        before = self._before
        if before is None:
            return
        weights = [tf_variable(variable) for variable in variables]

        def taken() -> Any:
            changes = [_difference(weight, old) for old, weight in zip(before, weights, strict=True)]
            change = tf.stack([quick_norm(real_values(values)) for values in changes])
            size = tf.stack([quick_norm(real_values(old)) for old in before])
            self._ring.write_update_ratio(tf.where(size > 0, tf.math.divide_no_nan(change, size), UNKNOWN))
            return tf.constant(True)

        tf.cond(self._due, taken, lambda: tf.constant(False))


def _norm(weight: Any) -> Any:
    """The norm of a variable; unknown for what only stands for one."""
    if not (isinstance(weight, tf.Variable) or tf.is_tensor(weight)):
        return tf.constant(UNKNOWN)
    return quick_norm(real_values(tf.convert_to_tensor(weight)))


def _difference(weight: Any, old: Any) -> Any:
    return tf.cast(weight, old.dtype) - old
