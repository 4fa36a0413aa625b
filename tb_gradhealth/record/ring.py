"""A ring of recorded steps in one device variable, with a summary of the steps it had no room for.

Promises: writing never waits for the host. A step that is overwritten before the host has read it is summed up, worst
first, in rows below the ring, so that resolution is lost and no event is. One read of the variable is one consistent
picture, also while another thread trains. Works eagerly, in a graph and under XLA.
"""

import dataclasses
from collections.abc import Callable
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
class Slot:
    """Where a step is going to be written.

    Attributes:
      seq, step: its sequence number and its own: int64 ``[]``.
      place: row of the ring: int64 ``[]``.
      full: bool ``[]``, whether what is there has not been seen by the host: `Ring.make_room` first.
    """

    seq: Any
    step: Any
    place: Any
    full: Any


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
        blank = np.zeros([layout.DETAIL_ROWS, layout.width(variables)], np.float32)
        self._nothing = Snapshot(layout.split_rows(blank[:0]), None, blank)
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

    def next(self, given_step: Any = None) -> "Slot":
        """Counts a step that is about to be written.

        Args:
          given_step: its number; None: the counter's.
        """
        seq = self._seq.assign_add(1)
        step = self._next_step.assign_add(1) - 1 if given_step is None else tf.cast(given_step, tf.int64)
        return Slot(seq, step, tf.math.floormod(seq, self.capacity), seq - self.capacity > self._host_seen)

    def make_room(self, slot: "Slot") -> None:
        """Sums up the step that is in the place of the next one and that the host has not seen (`Slot.full`)."""
        below = tf.range(self.capacity, self.capacity + layout.SUMMARY_ROWS)
        former = self._table.sparse_read(below)
        begun = seq_of(former[0]) > self._host_seen
        step = LeavingStep(self._table.sparse_read(slot.place[None])[0], self._clipping)
        merged = tf.where(begun, step.added_to(former), step.alone())
        self._table.scatter_update(tf.IndexedSlices(merged, below))

    def put(self, slot: "Slot", row: Any) -> None:
        """Writes a step: float32 ``[width]``, see `pack_row`."""
        self._table.scatter_update(tf.IndexedSlices(row, slot.place))

    def write(self, measured: Measured, facts: StepFacts) -> Any:
        """Records a step. Returns its sequence number: int64 ``[]``."""
        slot = self.next(facts.step)
        tf.cond(slot.full, then_true(lambda: self.make_room(slot)), lambda: tf.constant(True))
        self.put(slot, pack_row(block_of(measured), facts, slot.seq, slot.step))
        return slot.seq

    def detail_due(self, slot: "Slot", every: int) -> Any:
        """Whether a step is the first or an `every`-th after it: bool ``[]``."""
        if every == 1:
            return tf.constant(True)
        return tf.equal(tf.math.floormod(slot.seq, every), 1)

    def write_detail(self, seq: Any, largest: Any, zero_share: Any, weight_norm: Any) -> None:
        """The detailed numbers of a step, known before its update: float32 ``[variables]`` each."""
        head = tf.concat([_whole_numbers(seq, 0), tf.zeros([len(layout.SCALARS) - layout.WHOLE])], axis=0)
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

    # On the host ----------------------------------------------------------------------------------------------------

    def read(self) -> Snapshot:
        """All that was recorded since the last `read`: one transfer from the device, none if nothing was."""
        if int(self._seq.numpy()) == self._seen:
            return self._nothing
        table = self.transfer()
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

    def transfer(self) -> layout.Floats:
        """The whole table, from the device to the host."""
        table: layout.Floats = self._table.numpy()
        return table


def step_counter(start: int = 0) -> tf.Variable:
    """A variable that numbers steps: holds the number of the next one."""
    return outside(lambda: tf.Variable(start, dtype=tf.int64, trainable=False, name="gradhealth_step"))


def block_of(measured: Measured) -> Any:
    """What a row holds of the gradients: float32 ``[PARTS * variables]``."""
    return tf.concat([measured.norm, measured.nans, measured.infs], axis=0)


def pack_row(block: Any, facts: StepFacts, seq: Any, step: Any) -> Any:
    """One step as a row: float32 ``[width]``.

    Args:
      block: see `block_of`.
    """
    scalars = [
        _scalar(facts.loss, 0.0),
        0.0 if facts.loss is None else 1.0,
        _scalar(facts.loss_scale, UNKNOWN),
        _scalar(facts.learning_rate, UNKNOWN),
        _scalar(facts.handled, 0.0),
        _scalar(facts.skipped, 0.0),
    ]
    return tf.concat([_whole_numbers(seq, step), tf.stack(scalars), block], axis=0)


def _whole_numbers(seq: Any, step: Any) -> Any:
    """The first scalars of a row: float32 ``[WHOLE]``."""
    both = tf.stack([tf.cast(seq, tf.int64), tf.cast(step, tf.int64)])
    return tf.cast(tf.concat([both // layout.SPLIT, both % layout.SPLIT], axis=0), tf.float32)


def then_true(function: Callable[[], object]) -> Callable[[], Any]:
    """A branch that does what `function` does."""

    def run() -> Any:
        function()
        return tf.constant(True)

    return run


def _scalar(value: Any, default: float) -> Any:
    if value is None:
        return tf.constant(default)
    value = tf.convert_to_tensor(value)
    if value.dtype.is_complex:
        value = tf.abs(value)
    value = tf.cast(value, tf.float32)
    return value if value.shape.rank == 0 else tf.reduce_mean(value)
