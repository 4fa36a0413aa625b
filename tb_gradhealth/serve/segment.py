"""Successive windows of one group, kept as compactly as on disk and readable column by column.

Promises: takes no more memory than the records did, plus one byte for each row and window and one small table per
window; a column costs one pass over what is stored of it; `windows` gives exactly what `format.encoding.decode` gives.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
from google.protobuf.message import DecodeError

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.columns import BY_NAME, ROWS, SCALARS, Column
from tb_gradhealth.format.encoding import decode_scalars, from_disk, stored_column
from tb_gradhealth.format.log import Stored
from tb_gradhealth.format.seal import unsealed
from tb_gradhealth.format.states import State
from tb_gradhealth.format.windows import Array, Windows

Rows = slice | Array
_ALL = slice(None)
_COUNTED = (("zero_steps", State.ZERO), ("none_steps", State.NONE), ("inf_steps", State.INF), ("nan_steps", State.NAN))


@dataclasses.dataclass(frozen=True)
class _Kept:
    """What is stored of one column.

    Attributes:
      index: rising indices of the windows that store it; None: all do.
      values: ``[len(index), rows]`` as on disk.
    """

    index: Array | None
    values: Array


class Segment:
    """The records of one tag.

    Attributes:
      scalars: the columns with one value per window; these `Windows` have no rows.
      rows: rows per window.
      worst: uint8 ``[windows, rows]``, the most severe `State` within each window.
      problems: sentences about records that were damaged and left out.
    """

    def __init__(self, elements: Sequence[Stored], rows: int) -> None:
        self.rows = rows
        records, columns, self.problems = _sound(elements, rows)
        self.scalars = decode_scalars([r for r, _ in records], [wall_time for _, wall_time in records])
        self._kept = {name: _joined(values, len(records), rows) for name, values in columns.items()}
        self.worst = self._worst_state()

    def __len__(self) -> int:
        return len(self.scalars)

    @property
    def nbytes(self) -> int:
        """Bytes held, but for the small table per window."""
        return self.worst.nbytes + sum(kept.values.nbytes for kept in self._kept.values())

    def stores(self, name: str) -> bool:
        """Whether any window stores the column; if none does it has its default everywhere."""
        return name in self._kept

    def column(self, name: str, part: slice = _ALL, rows: Rows = _ALL) -> Array:
        """One per-row column of successive windows: ``[windows, rows]``, not to be written to.

        Steps are int64, counts an integer type, the rest has the dtype of disk. What is not stored takes no memory.
        """
        column = BY_NAME[name]
        first_step = self.scalars.first_step[part, None]
        kept = self._kept.get(name)
        if kept is not None and kept.index is None:
            return from_disk(kept.values[part, rows], column, first_step)
        default = self._default(column, part, rows)
        if kept is None or kept.index is None:
            return default
        start, stop, _ = part.indices(len(self))
        low, high = np.searchsorted(kept.index, (start, stop))
        if low == high:
            return default
        filled: Array = default.copy()
        at = kept.index[low:high] - start
        filled[at] = from_disk(kept.values[low:high][:, rows], column, first_step[at])
        return filled

    def windows(self, part: slice = _ALL, rows: Rows = _ALL) -> Windows:
        """Successive windows with all their columns, decoded; not to be written to."""
        scalars = {c.name: getattr(self.scalars, c.name)[part] for c in SCALARS}
        return Windows(
            **scalars, **{c.name: self.column(c.name, part, rows).astype(c.memory, copy=False) for c in ROWS}
        )

    def _default(self, column: Column, part: slice, rows: Rows) -> Array:
        if column.same_as is not None:
            return self.column(column.same_as, part, rows)
        first_step = self.scalars.first_step[part, None]
        shape = (len(first_step), self._width(rows))
        if column.name == "norm_max_step":
            return np.broadcast_to(first_step, shape)
        return np.broadcast_to(np.array(column.absent, column.memory), shape)

    def _width(self, rows: Rows) -> int:
        return len(range(*rows.indices(self.rows))) if isinstance(rows, slice) else len(rows)

    def _worst_state(self) -> Array:
        worst: Array = np.where(np.isnan(self.column("norm_max")), np.uint8(State.NOT_RECORDED), np.uint8(State.FINITE))
        for name, state in _COUNTED:
            kept = self._kept.get(name)
            if kept is not None:
                at = _ALL if kept.index is None else kept.index
                worst[at] = np.where(kept.values > 0, np.uint8(state), worst[at])
        return worst


def _sound(
    elements: Sequence[Stored], rows: int
) -> tuple[list[tuple[pb.Record, float]], dict[str, list[tuple[int, Array]]], tuple[str, ...]]:
    """The records that are whole with their wall times, what they store of each column, and what was wrong."""
    records: list[tuple[pb.Record, float]] = []
    columns: dict[str, list[tuple[int, Array]]] = {}
    problems = []
    for element in elements:
        try:
            record = pb.Record.FromString(unsealed(element.payload))
            found = {c.name: values for c in ROWS if len(values := stored_column(record, c, rows))}
        except (DecodeError, ValueError) as error:
            problems.append(f"{element.tag}, step {element.step}: {error}")
            continue
        for name, values in found.items():
            columns.setdefault(name, []).append((len(records), values))
        records.append((record, element.wall_time))
    return records, columns, tuple(problems)


def _joined(values: Sequence[tuple[int, Array]], windows: int, rows: int) -> _Kept:
    index = None if len(values) == windows else np.array([i for i, _ in values], np.intp)
    return _Kept(index, np.concatenate([v for _, v in values]).reshape(len(values), rows))
