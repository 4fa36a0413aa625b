"""The detailed numbers of a step, computed on steps chosen by a schedule: every n-th, beginning with the first.

Largest |g| and share of exact zeros (`statistics`), weight norm before the update, and update ratio: the norm of the
change that was really applied to a variable over its norm before. The ratio needs the weights from before the update,
which a branch taken on these steps only hands on; under XLA, where branches need static shapes, they are values like
any other, and what becomes of them is XLA's choice.
"""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.record.ring import Ring
from tb_gradhealth.record.schema import tf_variable
from tb_gradhealth.record.statistics import UNKNOWN, Measured, quick_norm, real_values
from tb_gradhealth.record.tracing import rarely, under_xla

HELD_BYTES = 512 * 2**20
"""Under XLA, weights beyond this are not held across the update: a second copy might not fit beside the first."""


class Detail:
    """The detailed numbers of the step being run or traced.

    Args:
      ring: gets them.
      seq: the step's sequence number: int64 ``[]``.
      due: bool ``[]``, whether this step is one of those chosen.
      variables: whose gradients are recorded.
      will_update: `finish` is going to be called after the update.
    """

    def __init__(self, ring: Ring, seq: Any, due: Any, variables: Sequence[Any], will_update: bool) -> None:
        self._ring = ring
        self._seq = seq
        self._due = due
        self._weights = [tf_variable(variable) for variable in variables]
        self._updates = will_update
        self._compiled = under_xla()
        self._before: list[Any] | None = None

    def begin(self, measured: Measured) -> list[Any]:
        """Before the update: records all but the update ratio. Returns what `hold` is to be given.

        Args:
          measured: thoroughly, where the step is due.
        """

        def taken() -> list[Any]:
            norms = tf.stack([_norm(weight) for weight in self._weights])
            self._ring.write_detail(self._seq, measured.largest, measured.zero_share, norms)
            if not self._hands_on:
                return [tf.constant(True)]
            return [tf.identity(weight) for weight in self._weights]

        held = list(tf.cond(self._due, taken, lambda: self.nothing() or [tf.constant(True)]))
        return held if self._hands_on else []

    def nothing(self) -> list[Any]:
        """In place of `begin`, on a step that is not due."""
        if not self._hands_on:
            return []
        empty = {weight.dtype: tf.zeros([0], weight.dtype) for weight in self._weights}
        return [empty[weight.dtype] for weight in self._weights]

    def hold(self, before: list[Any]) -> None:
        """Keeps the weights from before the update until it is done.

        Args:
          before: what `begin` or `nothing` returned.
        """
        if self._hands_on:
            self._before = before
        elif self._updates and sum(_size(weight) for weight in self._weights) <= HELD_BYTES:
            self._before = [tf.convert_to_tensor(weight) for weight in self._weights]

    @property
    def _hands_on(self) -> bool:
        """Whether the branch hands the weights on. XLA wants one shape on both sides, and needs no branch for that."""
        return self._updates and not self._compiled

    def finish(self) -> None:
        """After the update: the update ratio, if it can be known."""
        before, self._before = self._before, None
        if before is None:
            return

        def taken() -> list[Any]:
            changes = [_difference(weight, old) for old, weight in zip(before, self._weights, strict=True)]
            change = tf.stack([quick_norm(real_values(values)) for values in changes])
            size = tf.stack([quick_norm(real_values(old)) for old in before])
            self._ring.write_update_ratio(tf.where(size > 0, tf.math.divide_no_nan(change, size), UNKNOWN))
            return [tf.constant(True)]

        rarely(self._due, taken, lambda: [tf.constant(True)])


def _size(weight: Any) -> int:
    return int(weight.shape.num_elements() or 0) * int(weight.dtype.size)


def _norm(weight: Any) -> Any:
    """The norm of a variable; unknown for what only stands for one."""
    if not (isinstance(weight, tf.Variable) or tf.is_tensor(weight)):
        return tf.constant(UNKNOWN)
    return quick_norm(real_values(tf.convert_to_tensor(weight)))


def _difference(weight: Any, old: Any) -> Any:
    return tf.cast(weight, old.dtype) - old
