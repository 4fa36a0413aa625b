"""What one recorded step looks like on the device: a row of float32 numbers, and how the host reads it.

    row     = scalars | norm per variable | NaN elements per variable | Inf elements per variable
    ring    = `capacity` rows, below them `SUMMARY_ROWS` rows that sum up the steps the ring had no room for, and below
              these `DETAIL_ROWS` rows with the latest detailed numbers

A whole number that may exceed 2**24 (a step, a sequence number) is kept as two float32 numbers, both exact; the high
parts stand together and the low parts too, so that two operations split both.
Sequence numbers count recorded steps from 1; 0 marks a row never written.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

SCALARS = (
    "seq_high",
    "step_high",
    "seq_low",
    "step_low",
    "loss",
    "loss_known",  # 1 where a loss was given, be it NaN
    "loss_scale",
    "learning_rate",
    "handled",  # 1 where the loss scaler withheld the update
    "skipped",  # 1 where on_nonfinite withheld it
)
SPLIT = 1 << 20
"""A whole number n is stored as n // SPLIT and n % SPLIT."""

WHOLE = 4
"""Scalars that are parts of whole numbers; they come first."""

PARTS = 3
"""Numbers per variable in a row: norm, NaN elements, Inf elements."""

SUMMARY_ROWS = 5
"""Rows that sum up overwritten steps; `SUMMARY` names their parts."""

SUMMARY = (
    ("norm_last", "nan_elements", "inf_elements"),
    ("norm_min", "norm_max", "norm_sum"),
    ("norm_max_offset", "first_bad_offset", "finite_steps"),
    ("none_steps", "zero_steps", "nan_steps"),
    ("inf_steps", "handled_steps", "state_last"),
)
"""The columns of the summary rows. Offsets are steps from the first one summed up; first_bad_offset is -1 for none."""

SUMMARY_SCALARS = {
    "loss_max": (1, "loss"),
    "loss_nonfinite_steps": (1, "loss_known"),
    "global_norm_max": (1, "learning_rate"),
    "overflow_steps": (1, "handled"),
    "skipped_steps": (1, "skipped"),
    "clipped_steps": (2, "handled"),
}
"""Where a summary keeps its scalars: row and slot. The slots of row 0 are those of the last step summed up, the
sequence number and step of row 1 those of the first."""

DETAIL_ROWS = 2
"""Rows below the summary: the latest detailed numbers, see `DETAIL`. Their heads hold the sequence number and step."""

DETAIL = (
    ("largest", "zero_share", "weight_norm"),
    ("update_ratio", None, None),
)

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


def width(variables: int) -> int:
    """Numbers in a row."""
    return len(SCALARS) + PARTS * variables


@dataclasses.dataclass(frozen=True)
class Rows:
    """Successive recorded steps of one list of variables, on the host.

    Attributes:
      seq, step: int64 ``[steps]``.
      scalars: float32 ``[steps]`` each, by name; NaN where not known.
      norm: float32 ``[steps, variables]``: `statistics.NO_GRADIENT` for None, NaN where not finite.
      nans, infs: float32 ``[steps, variables]``: counts of elements.
    """

    seq: Ints
    step: Ints
    scalars: dict[str, Floats]
    norm: Floats
    nans: Floats
    infs: Floats

    def __len__(self) -> int:
        return len(self.seq)

    def select(self, index: Any) -> "Rows":
        """The steps that an index array, a slice or a mask selects."""
        return Rows(
            seq=self.seq[index],
            step=self.step[index],
            scalars={name: values[index] for name, values in self.scalars.items()},
            norm=self.norm[index],
            nans=self.nans[index],
            infs=self.infs[index],
        )


def split_rows(table: Floats) -> Rows:
    """Reads a table of rows: float32 ``[steps, width]``."""
    table = np.asarray(table, np.float32)
    scalars = {name: table[:, index] for index, name in enumerate(SCALARS)}
    parts = table[:, len(SCALARS) :].reshape(len(table), PARTS, (table.shape[1] - len(SCALARS)) // PARTS)
    return Rows(
        seq=whole(scalars["seq_high"], scalars["seq_low"]),
        step=whole(scalars["step_high"], scalars["step_low"]),
        scalars=scalars,
        norm=parts[:, 0],
        nans=parts[:, 1],
        infs=parts[:, 2],
    )


def whole(high: Any, low: Any) -> Any:
    """The whole number that two float32 numbers hold: int64."""
    return np.asarray(high).astype(np.int64) * SPLIT + np.asarray(low).astype(np.int64)


def joined(parts: Sequence[Rows]) -> Rows:
    """The steps of all parts, in the order given. At least one part."""
    if len(parts) == 1:
        return parts[0]
    return Rows(
        seq=np.concatenate([part.seq for part in parts]),
        step=np.concatenate([part.step for part in parts]),
        scalars={name: np.concatenate([part.scalars[name] for part in parts]) for name in SCALARS},
        norm=np.concatenate([part.norm for part in parts]),
        nans=np.concatenate([part.nans for part in parts]),
        infs=np.concatenate([part.infs for part in parts]),
    )
