"""The columns of a window: one table that says how each is stored and how two windows' values become one.

Everything that encodes, decodes, merges or draws a column reads this table, so a new column is a field in the proto
message and a line here.
"""

import dataclasses
import enum

import numpy as np


class Merge(enum.Enum):
    """How the values of several successive windows become the value of one."""

    FIRST = enum.auto()
    LAST = enum.auto()
    LAST_VALID = enum.auto()  # the last one that is not NaN
    SUM = enum.auto()
    MIN = enum.auto()  # NaN counts as absent
    MAX = enum.auto()  # NaN counts as absent
    MIN_STEP = enum.auto()  # smallest step, -1 is absent
    MEAN = enum.auto()  # weighted with the steps that had a finite gradient
    AT_MAX = enum.auto()  # the step at which norm_max was reached
    DETAIL = enum.auto()  # the value of the last window that has details


@dataclasses.dataclass(frozen=True)
class Column:
    """One column of `Windows`.

    Attributes:
      name: field of `Windows` and of the proto message.
      memory: dtype in memory.
      absent: value that means "not there"; an all-absent column is not stored.
      merge: see `Merge`.
      disk: little-endian dtype on disk, for per-row columns.
      same_as: a column of the same record whose values this one has when it is absent.
    """

    name: str
    memory: np.dtype
    absent: float
    merge: Merge
    disk: np.dtype | None = None
    same_as: str | None = None


def _scalar(name: str, memory: str, absent: float, merge: Merge) -> Column:
    return Column(name, np.dtype(memory), absent, merge)


def _row(name: str, disk: str, absent: float, merge: Merge, memory: str = "", same_as: str | None = None) -> Column:
    return Column(name, np.dtype(memory or disk), absent, merge, np.dtype(disk), same_as)


_NAN = float("nan")

SCALARS = (
    _scalar("first_step", "i8", 0, Merge.FIRST),
    _scalar("last_step", "i8", 0, Merge.LAST),
    _scalar("steps", "i8", 0, Merge.SUM),
    _scalar("wall_time", "f8", _NAN, Merge.LAST),
    _scalar("loss", "f8", _NAN, Merge.LAST_VALID),
    _scalar("loss_max", "f8", _NAN, Merge.MAX),
    _scalar("loss_nonfinite_steps", "i8", 0, Merge.SUM),
    _scalar("global_norm", "f8", _NAN, Merge.LAST),
    _scalar("global_norm_max", "f8", _NAN, Merge.MAX),
    _scalar("loss_scale", "f8", _NAN, Merge.LAST_VALID),
    _scalar("learning_rate", "f8", _NAN, Merge.LAST_VALID),
    _scalar("skipped_steps", "i8", 0, Merge.SUM),
    _scalar("overflow_steps", "i8", 0, Merge.SUM),
    _scalar("clipped_steps", "i8", 0, Merge.SUM),
    _scalar("record_seconds", "f8", 0, Merge.SUM),
    _scalar("detail_step", "i8", -1, Merge.DETAIL),
)
"""Columns with one value per window, shape ``[windows]``."""

ROWS = (
    _row("state_last", "u1", 0, Merge.LAST),
    _row("norm_last", "<f4", _NAN, Merge.LAST),
    _row("norm_min", "<f4", _NAN, Merge.MIN, same_as="norm_last"),
    _row("norm_max", "<f4", _NAN, Merge.MAX, same_as="norm_last"),
    _row("norm_mean", "<f4", _NAN, Merge.MEAN, same_as="norm_last"),
    _row("norm_max_step", "<u4", 0, Merge.AT_MAX, memory="i8"),
    _row("none_steps", "<u4", 0, Merge.SUM, memory="i8"),
    _row("zero_steps", "<u4", 0, Merge.SUM, memory="i8"),
    _row("nan_steps", "<u4", 0, Merge.SUM, memory="i8"),
    _row("inf_steps", "<u4", 0, Merge.SUM, memory="i8"),
    _row("handled_steps", "<u4", 0, Merge.SUM, memory="i8"),
    _row("nan_elements", "<u4", 0, Merge.MAX, memory="i8"),
    _row("inf_elements", "<u4", 0, Merge.MAX, memory="i8"),
    _row("first_bad_step", "<u4", -1, Merge.MIN_STEP, memory="i8"),
    _row("largest", "<f4", _NAN, Merge.DETAIL),
    _row("zero_share", "<f4", _NAN, Merge.DETAIL),
    _row("weight_norm", "<f4", _NAN, Merge.DETAIL),
    _row("update_ratio", "<f4", _NAN, Merge.DETAIL),
)
"""Columns with one value per window and row, shape ``[windows, rows]``."""

BY_NAME = {column.name: column for column in SCALARS + ROWS}
