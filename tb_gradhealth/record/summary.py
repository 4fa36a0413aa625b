"""Summing up, on the device, a step that leaves the ring before the host has read it.

The result says of the steps summed up what a window of them says (`format.windows`): worst first, nothing lost but
the resolution.
"""

from typing import Any

import tensorflow as tf

from tb_gradhealth.format.states import State
from tb_gradhealth.record import layout
from tb_gradhealth.record.clipping import Clipping
from tb_gradhealth.record.statistics import LARGEST_NORM, NO_GRADIENT, NOT_FINITE

_SLOT = {name: index for index, name in enumerate(layout.SCALARS)}
_HEAD = len(layout.SCALARS)
_NOTHING_YET = {"norm_min": LARGEST_NORM, "norm_max": -LARGEST_NORM, "first_bad_offset": -1.0}


def seq_of(row: Any) -> Any:
    """The sequence number in a row's head: int64 ``[]``."""
    return _whole(row, "seq")


def step_of(row: Any) -> Any:
    """The step in a row's head: int64 ``[]``."""
    return _whole(row, "step")


def _whole(row: Any, name: str) -> Any:
    high, low = (tf.cast(row[_SLOT[f"{name}_{part}"]], tf.int64) for part in ("high", "low"))
    return high * layout.SPLIT + low


class LeavingStep:
    """One row of the ring, about to be overwritten.

    Args:
      row: float32 ``[width]``.
      clipping: to tell whether this step was clipped.
    """

    def __init__(self, row: Any, clipping: Clipping) -> None:
        self._head = row[:_HEAD]
        self._norm, self._nans, self._infs = tf.split(row[_HEAD:], layout.PARTS)
        none = tf.equal(self._norm, NO_GRADIENT)
        is_nan = self._nans > 0
        is_inf = tf.logical_and(self._infs > 0, tf.logical_not(is_nan))
        self._bad = tf.logical_or(is_nan, is_inf)
        self._finite = tf.logical_not(tf.logical_or(none, self._bad))
        zero = tf.logical_and(self._finite, tf.equal(self._norm, 0.0))
        self._flags = {"none": none, "zero": zero, "nan": is_nan, "inf": is_inf}
        finite_norm = tf.where(self._finite, self._norm, 0.0)
        squares = tf.square(tf.cast(finite_norm, tf.float64))
        self._global_norm = tf.cast(tf.minimum(tf.sqrt(tf.reduce_sum(squares)), LARGEST_NORM), tf.float32)
        self._clipped = self._has_clipped(clipping)

    def _has_clipped(self, clipping: Clipping) -> Any:
        acted = tf.constant(False)
        if clipping.norm is not None:
            acted = tf.logical_or(acted, tf.reduce_any(self._norm > clipping.norm))
        if clipping.global_norm is not None:
            acted = tf.logical_or(acted, self._global_norm > clipping.global_norm)
        return acted

    def alone(self) -> Any:
        """The summary of this step alone: float32 ``[SUMMARY_ROWS, width]``."""
        former = {
            name: tf.zeros_like(self._norm) + _NOTHING_YET.get(name, 0.0) for row in layout.SUMMARY for name in row
        }
        return self._table(None, former)

    def added_to(self, table: Any) -> Any:
        """The summary that `table` is, with this step added."""
        former = {}
        for row, names in enumerate(layout.SUMMARY):
            for name, part in zip(names, tf.split(table[row, _HEAD:], layout.PARTS), strict=True):
                former[name] = part
        return self._table(table[:, :_HEAD], former)

    def _table(self, former_head: Any, former: dict[str, Any]) -> Any:
        one = {name: tf.cast(flag, tf.float32) for name, flag in self._flags.items()}
        handled = self._head[_SLOT["handled"]]
        first = self._head if former_head is None else former_head[1]
        offset = tf.cast(step_of(self._head) - step_of(first), tf.float32)
        norm = tf.where(self._finite, self._norm, 0.0)
        higher = tf.logical_and(self._finite, self._norm > former["norm_max"])
        columns = {
            "norm_last": tf.where(self._finite, self._norm, NOT_FINITE),
            "nan_elements": tf.maximum(former["nan_elements"], self._nans),
            "inf_elements": tf.maximum(former["inf_elements"], self._infs),
            "norm_min": tf.minimum(former["norm_min"], tf.where(self._finite, self._norm, LARGEST_NORM)),
            "norm_max": tf.where(higher, self._norm, former["norm_max"]),
            "norm_sum": former["norm_sum"] + norm,
            "norm_max_offset": tf.where(higher, offset, former["norm_max_offset"]),
            "first_bad_offset": tf.where(
                tf.logical_and(self._bad, former["first_bad_offset"] < 0), offset, former["first_bad_offset"]
            ),
            "finite_steps": former["finite_steps"] + tf.cast(self._finite, tf.float32),
            "none_steps": former["none_steps"] + one["none"],
            "zero_steps": former["zero_steps"] + one["zero"],
            "nan_steps": former["nan_steps"] + one["nan"],
            "inf_steps": former["inf_steps"] + one["inf"],
            "handled_steps": former["handled_steps"] + handled * tf.cast(self._bad, tf.float32),
            "state_last": self._state(),
        }
        heads = self._heads(former_head)
        rows = [
            tf.concat([heads[index], *(columns[name] for name in names)], axis=0)
            for index, names in enumerate(layout.SUMMARY)
        ]
        return tf.stack(rows)

    def _state(self) -> Any:
        """The `State` of each variable as a float32 number."""
        state = tf.fill(tf.shape(self._norm), float(State.FINITE))
        for name, value in (("zero", State.ZERO), ("none", State.NONE), ("inf", State.INF), ("nan", State.NAN)):
            state = tf.where(self._flags[name], float(value), state)
        return state

    def _heads(self, former: Any) -> list[Any]:
        last = self._head
        loss = last[_SLOT["loss"]]
        is_number = tf.math.is_finite(loss)
        lost = tf.logical_and(last[_SLOT["loss_known"]] > 0, tf.logical_not(is_number))
        added = {
            "loss_max": tf.where(is_number, loss, -LARGEST_NORM),
            "loss_nonfinite_steps": tf.cast(lost, tf.float32),
            "global_norm_max": self._global_norm,
            "overflow_steps": last[_SLOT["handled"]],
            "skipped_steps": last[_SLOT["skipped"]],
            "clipped_steps": tf.cast(self._clipped, tf.float32),
        }
        if former is not None:
            for name, (row, slot) in layout.SUMMARY_SCALARS.items():
                join = tf.maximum if name.endswith("_max") else tf.add
                added[name] = join(former[row, _SLOT[slot]], added[name])
        first = last if former is None else former[1]
        second = {slot: added[name] for name, (row, slot) in layout.SUMMARY_SCALARS.items() if row == 1}
        third = {slot: added[name] for name, (row, slot) in layout.SUMMARY_SCALARS.items() if row == 2}
        head1 = tf.stack([second.get(name, first[_SLOT[name]]) for name in layout.SCALARS])
        head2 = tf.stack([third.get(name, tf.zeros([])) for name in layout.SCALARS])
        return [last, head1, head2, tf.zeros([_HEAD]), tf.zeros([_HEAD])]
