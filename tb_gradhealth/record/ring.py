"""A ring of recorded steps in one device variable, with a summary of the steps it had no room for.

Promises: writing never waits for the host. A step that is overwritten before the host has read it is summed up, worst
first, in rows below the ring, so that resolution is lost and no event is. One read of the variable is one consistent
picture, also while another thread trains. Works eagerly, in a graph and under XLA.
"""

import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf

from tb_gradhealth.record import layout
from tb_gradhealth.record.clipping import NO_CLIPPING, Clipping
from tb_gradhealth.record.statistics import UNKNOWN, Measured
from tb_gradhealth.record.summary import LeavingStep, seq_of
from tb_gradhealth.record.tracing import outside


@dataclasses.dataclass(frozen=True)
class StepFacts:
    """What is known of a step besides its gradients: each a tensor, a number, or None for not known.

    Attributes:
      step: whole number, or None to number the steps by the ring's counter.
      loss, loss_scale, learning_rate: real numbers.
      handled: whether the loss scaler will withhold this step's update.
      skipped: whether we withhold this step's update.
    """

    step: Any = None
    loss: Any = None
    loss_scale: Any = None
    learning_rate: Any = None
    handled: Any = None
    skipped: Any = None


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """What the ring held when it was read.

    Attributes:
      rows: the steps still in the ring, in order, that the host had not seen.
      summary: the rows that sum up earlier unseen steps, float32 ``[SUMMARY_ROWS, width]``, or None.
      detail: the latest detailed numbers, float32 ``[DETAIL_ROWS, width]``; sequence number 0 for none yet.
    """

    rows: layout.Rows
    summary: layout.Floats | None
    detail: layout.Floats

    @property
    def last_seq(self) -> int:
        """Sequence number of the last step, 0 when there is none."""
        if len(self.rows):
            return int(self.rows.seq[-1])
        return 0 if self.summary is None else int(layout.split_rows(self.summary[:1]).seq[0])


class Ring:
    """The device side of one list of variables.

    Args:
      variables: how many; at least one.
      capacity: steps it holds.
      device: where to put it; None: where TensorFlow puts it.
      clipping: the optimizer's thresholds, to count clipped steps.
      counter: int64 variable that numbers the steps of a group; None: one of its own.

    It may be created while a function is being traced.
    """

    def __init__(
        self,
        variables: int,
        capacity: int,
        device: str | None = None,
        clipping: Clipping = NO_CLIPPING,
        counter: Any = None,
    ) -> None:
        self.variables = variables
        self.capacity = capacity
        self._clipping = clipping
        self._seen = 0
        self._next_step = step_counter() if counter is None else counter
        outside(lambda: self._make_variables(device))

    def _make_variables(self, device: str | None) -> None:
        with tf.device(device):
            rows = self.capacity + layout.SUMMARY_ROWS + layout.DETAIL_ROWS
            shape = [rows, layout.width(self.variables)]
            self._table = tf.Variable(tf.zeros(shape), trainable=False, name="gradhealth_ring")
            self._seq = tf.Variable(0, dtype=tf.int64, trainable=False, name="gradhealth_seq")
            self._host_seen = tf.Variable(0, dtype=tf.int64, trainable=False, name="gradhealth_seen")

    # In the step ----------------------------------------------------------------------------------------------------

    def write(self, measured: Measured, facts: StepFacts) -> Any:
        """Records a step. Returns its sequence number: int64 ``[]``."""
        with tf.name_scope("gradhealth_ring"):
            seq = self._seq.assign_add(1)
            step = self._step(facts.step)
            slot = tf.math.floormod(seq - 1, self.capacity)
            leaving = self._table.sparse_read(slot[None])[0]
            unseen = seq_of(leaving) > self._host_seen
            done = tf.cond(unseen, lambda: self._sum_up(leaving), lambda: tf.constant(False))
            with tf.control_dependencies([done]):
                row = pack_row(measured, facts, seq, step)
                self._table.scatter_update(tf.IndexedSlices(row[None], slot[None]))
            return seq

    def detail_due(self, every: int) -> Any:
        """Whether the step about to be written is the first or an `every`-th after it: bool ``[]``."""
        return tf.equal(tf.math.floormod(self._seq.read_value(), every), 0)

    def write_detail(self, seq: Any, largest: Any, zero_share: Any, weight_norm: Any) -> None:
        """The detailed numbers of a step, known before its update: float32 ``[variables]`` each."""
        head = tf.stack([seq // layout.SPLIT, seq % layout.SPLIT])
        head = tf.pad(tf.cast(head, tf.float32), [[0, len(layout.SCALARS) - 2]])
        row = tf.concat([head, largest, zero_share, weight_norm], axis=0)
        unknown = tf.concat([head, tf.fill([layout.PARTS * self.variables], UNKNOWN)], axis=0)
        at = tf.range(self._detail_at, self._detail_at + layout.DETAIL_ROWS)
        self._table.scatter_update(tf.IndexedSlices(tf.stack([row, unknown]), at))

    def write_update_ratio(self, ratio: Any) -> None:
        """What `write_detail` could not know, after the update: float32 ``[variables]``."""
        at = self._detail_at + 1
        row = self._table.sparse_read([at])[0]
        start = len(layout.SCALARS)
        row = tf.concat([row[:start], ratio, row[start + self.variables :]], axis=0)
        self._table.scatter_update(tf.IndexedSlices(row[None], [at]))

    @property
    def _detail_at(self) -> int:
        return self.capacity + layout.SUMMARY_ROWS

    def _step(self, given: Any) -> Any:
        if given is None:
            return self._next_step.assign_add(1) - 1
        return tf.cast(given, tf.int64)

    def _sum_up(self, leaving: Any) -> Any:
        below = tf.range(self.capacity, self.capacity + layout.SUMMARY_ROWS)
        former = self._table.sparse_read(below)
        begun = seq_of(former[0]) > self._host_seen
        step = LeavingStep(leaving, self._clipping)
        merged = tf.where(begun, step.added_to(former), step.alone())
        self._table.scatter_update(tf.IndexedSlices(merged, below))
        return tf.constant(True)

    # On the host ----------------------------------------------------------------------------------------------------

    def read(self) -> Snapshot:
        """All that was recorded since the last `read`: one transfer from the device."""
        table = self._table.numpy()
        rows = layout.split_rows(table[: self.capacity])
        summary: layout.Floats | None = table[self.capacity : self._detail_at]
        assert summary is not None
        summed_up = int(layout.split_rows(summary[:1]).seq[0])
        if summed_up <= self._seen:
            summary = None
        else:
            self._seen = summed_up
        new = np.flatnonzero(rows.seq > self._seen)
        snapshot = Snapshot(rows.select(new[np.argsort(rows.seq[new])]), summary, table[self._detail_at :])
        if snapshot.last_seq > 0:
            self._seen = snapshot.last_seq
            self._host_seen.assign(self._seen)
        return snapshot


def step_counter(start: int = 0) -> tf.Variable:
    """A variable that numbers steps: holds the number of the next one."""
    return outside(lambda: tf.Variable(start, dtype=tf.int64, trainable=False, name="gradhealth_step"))


def pack_row(measured: Measured, facts: StepFacts, seq: Any, step: Any) -> Any:
    """One step as a row: float32 ``[width]``."""
    seq, step = tf.cast(seq, tf.int64), tf.cast(step, tf.int64)
    scalars = [
        seq // layout.SPLIT,
        seq % layout.SPLIT,
        step // layout.SPLIT,
        step % layout.SPLIT,
        _scalar(facts.loss, 0.0),
        0.0 if facts.loss is None else 1.0,
        _scalar(facts.loss_scale, UNKNOWN),
        _scalar(facts.learning_rate, UNKNOWN),
        _scalar(facts.handled, 0.0),
        _scalar(facts.skipped, 0.0),
    ]
    head = tf.stack([tf.cast(value, tf.float32) for value in scalars])
    return tf.concat([head, measured.norm, measured.nans, measured.infs], axis=0)


def _scalar(value: Any, default: float) -> Any:
    if value is None:
        return tf.constant(default)
    value = tf.convert_to_tensor(value)
    if value.dtype.is_complex:
        value = tf.abs(value)
    value = tf.cast(value, tf.float32)
    return value if value.shape.rank == 0 else tf.reduce_mean(value)
