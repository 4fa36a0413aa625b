"""A batch and weights put aside on the device while a step runs, into variables that hold nothing until then."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

Values = Sequence[Any]


class PutAside:
    """Room for one step. Make it outside of any function being traced.

    Args:
      tensors: those whose values will be put aside, for their dtypes.

    Attributes:
      seq: int64 variable: the sequence number of the step, 0 while there is none.
      put: int64 variable: the sequence number of the step whose values are here.
    """

    def __init__(self, tensors: Values) -> None:
        self.seq = tf.Variable(0, dtype=tf.int64, trainable=False, name="gradhealth_kept")
        self.put = tf.Variable(0, dtype=tf.int64, trainable=False, name="gradhealth_kept")
        self._copies = [_empty(tensor.dtype) for tensor in tensors]
        self._taken = 0

    def keep(self, tensors: Values, seq: Any) -> Any:
        """In a branch of a step: puts all values aside."""
        for copy, tensor in zip(self._copies, tensors, strict=True):
            copy.assign(tf.identity(tensor))
        self.seq.assign(seq)
        self.put.assign(seq)
        return tf.constant(True)

    def keep_known(self, values: Values) -> None:
        """Behind a call that noted its sequence number in `seq`, if it did: puts aside the values that are not None."""
        pairs = [(copy, value) for copy, value in zip(self._copies, values, strict=True) if value is not None]

        def keep() -> Any:
            for copy, value in pairs:
                copy.assign(tf.identity(value))
            self.put.assign(self.seq)
            return tf.constant(True)

        tf.cond(tf.not_equal(self.seq, self.put), keep, lambda: tf.constant(False))

    def take(self) -> tuple[int, list[Any]] | None:
        """Sequence number and values of the step, once: their memory is given back. None without one. Host only."""
        seq = int(self.put.numpy())
        if seq == self._taken:
            return None
        self._taken = seq
        values = [copy.read_value() for copy in self._copies]
        for copy in self._copies:
            copy.assign(tf.zeros([0], copy.dtype))
        return seq, values


def _empty(dtype: Any) -> tf.Variable:
    return tf.Variable(
        tf.zeros([0], dtype), shape=tf.TensorShape(None), trainable=False, dtype=dtype, name="gradhealth_evidence"
    )
