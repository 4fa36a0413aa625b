"""Windows to Record messages and back.

Promises: decode(encode(w)) equals w in every column (counts saturate at 2**32 - 1); a single healthy step takes about
five bytes per row, and no record more than 69.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.columns import BY_NAME, ROWS, SCALARS, Column
from tb_gradhealth.format.windows import Array, Windows

_UINT32_MAX = 2**32 - 1
_OPTIONAL = frozenset(f.name for f in pb.Record.DESCRIPTOR.fields if f.containing_oneof is not None)
_STORED_SCALARS = tuple(c for c in SCALARS if c.name != "wall_time")  # the event itself has it
_OFFSETS = {"norm_max_step": 0, "first_bad_step": 1}
"""Steps stored as offsets from first_step, plus this."""


def encode(windows: Windows, index: int = 0) -> pb.Record:
    """The Record of one window."""
    return encode_all(windows.select(slice(index, index + 1)))[0]


def encode_all(windows: Windows) -> list[pb.Record]:
    """The Record of each window. Columns are looked at for all windows at once, which is several times as fast."""
    fields: list[dict[str, Any]] = [{} for _ in range(len(windows))]
    for column in _STORED_SCALARS:
        values: Array = getattr(windows, column.name)
        if column.name in _OPTIONAL:
            _put(fields, column, values.tolist(), ~_are_absent(values, column))
        else:
            _put(fields, column, values.tolist(), values != 0)
    for column in ROWS:
        values = getattr(windows, column.name)
        if column.same_as is not None:
            same = getattr(windows, column.same_as)
            default = ((values == same) | (np.isnan(values) & np.isnan(same))).all(axis=1)
        elif column.name == "norm_max_step":
            default = (values == windows.first_step[:, None]).all(axis=1)
        else:
            default = _are_absent(values, column).all(axis=1)
        if default.all():
            continue
        stored = _to_disk(values, column, windows.first_step[:, None])
        _put(fields, column, [row.tobytes() for row in stored], ~default)
    return [pb.Record(**of_window) for of_window in fields]


def _put(fields: list[dict[str, Any]], column: Column, values: list[Any], chosen: Array) -> None:
    for index in np.flatnonzero(chosen).tolist():
        fields[index][column.name] = values[index]


def decode(records: Sequence[pb.Record], wall_times: Sequence[float], rows: int) -> Windows:
    """The windows of successive records, each with `rows` rows.

    Raises:
      ValueError: a column's length does not match `rows`.
    """
    windows = Windows.blank(len(records), rows)
    _fill_scalars(windows, records, wall_times)
    for index, record in enumerate(records):
        for column in ROWS:
            getattr(windows, column.name)[index] = read_column(record, column, rows)
    return windows


def decode_scalars(records: Sequence[pb.Record], wall_times: Sequence[float]) -> Windows:
    """The windows of successive records without their rows: `row_count` is 0."""
    windows = Windows.blank(len(records), 0)
    _fill_scalars(windows, records, wall_times)
    return windows


def read_column(record: pb.Record, column: Column, rows: int) -> Array | float:
    """One per-row column of a record: an array ``[rows]`` in the dtype of memory, or the absent value for all rows."""
    if not getattr(record, column.name):
        if column.same_as is not None:
            return read_column(record, BY_NAME[column.same_as], rows)
        return record.first_step if column.name == "norm_max_step" else column.absent
    stored = stored_column(record, column, rows)
    return from_disk(stored, column, np.int64(record.first_step)).astype(column.memory, copy=False)


def stored_column(record: pb.Record, column: Column, rows: int) -> Array:
    """One per-row column of a record as it is on disk: ``[rows]``, or empty where it is left out.

    Raises:
      ValueError: its length does not match `rows`.
    """
    raw: bytes = getattr(record, column.name)
    assert column.disk is not None
    if raw and len(raw) != rows * column.disk.itemsize:
        raise ValueError(
            f"A record of steps {record.first_step}..{record.last_step} is damaged: column {column.name!r} has "
            f"{len(raw)} bytes where {rows} rows need {rows * column.disk.itemsize}."
        )
    return np.frombuffer(raw, column.disk)


def from_disk(values: Array, column: Column, first_step: Array | np.int64) -> Array:
    """Stored values of a column as values of `Windows`: steps become absolute (int64), the rest stays as it is."""
    shift = _OFFSETS.get(column.name)
    if shift is None:
        return values
    steps = values.astype(np.int64) - shift
    return np.where(steps < 0, -1, steps + first_step)


def _fill_scalars(windows: Windows, records: Sequence[pb.Record], wall_times: Sequence[float]) -> None:
    windows.wall_time[:] = wall_times
    for index, record in enumerate(records):
        for column in _STORED_SCALARS:
            if column.name not in _OPTIONAL or record.HasField(column.name):
                getattr(windows, column.name)[index] = getattr(record, column.name)


def _to_disk(values: Array, column: Column, first_step: Array) -> Array:
    assert column.disk is not None
    shift = _OFFSETS.get(column.name)
    if shift is not None:
        values = np.where(values < 0, 0, values - first_step + shift)
    if column.disk.kind == "u" and column.memory.kind == "i":
        values = np.clip(values, 0, _UINT32_MAX)
    return np.ascontiguousarray(values.astype(column.disk))


def _are_absent(values: Array, column: Column) -> Array:
    return np.isnan(values) if np.isnan(column.absent) else values == column.absent


def parse_records(payloads: Iterable[bytes]) -> list[pb.Record]:
    """Record messages from their serialised form. Raises `google.protobuf.message.DecodeError` on damage."""
    return [pb.Record.FromString(payload) for payload in payloads]
