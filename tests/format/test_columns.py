"""The table of columns, the message and `Windows` say the same."""

import dataclasses

import numpy as np
from google.protobuf.descriptor import FieldDescriptor

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.columns import BY_NAME, ROWS, SCALARS, Merge
from tb_gradhealth.format.tags import RECORD_BYTES_PER_ROW
from tb_gradhealth.format.windows import Windows

FIELDS = pb.Record.DESCRIPTOR.fields_by_name


def test_every_field_of_a_record_is_a_column_and_every_column_but_the_wall_time_is_a_field() -> None:
    assert set(FIELDS) == set(BY_NAME) - {"wall_time"}


def test_rows_travel_as_bytes_and_scalars_as_numbers() -> None:
    for column in ROWS:
        assert FIELDS[column.name].type == FieldDescriptor.TYPE_BYTES, column.name
    for column in SCALARS:
        if column.name != "wall_time":
            kind = FIELDS[column.name].cpp_type
            numbers = (FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64, FieldDescriptor.CPPTYPE_DOUBLE)
            assert kind in numbers, column.name
            assert (kind == FieldDescriptor.CPPTYPE_DOUBLE) == (column.memory == np.float64), column.name


def test_windows_have_the_columns_in_their_order() -> None:
    assert [f.name for f in dataclasses.fields(Windows)] == [c.name for c in SCALARS + ROWS]


def test_a_scalar_whose_absence_is_not_zero_is_an_optional_field() -> None:
    for column in SCALARS:
        if column.name != "wall_time":
            optional = FIELDS[column.name].containing_oneof is not None
            assert optional == (column.absent != 0), column.name


def test_disk_is_little_endian_and_memory_holds_it() -> None:
    for column in ROWS:
        assert column.disk is not None
        assert column.disk == column.disk.newbyteorder("<")
        assert column.disk.kind == "f" or np.iinfo(column.memory).max >= np.iinfo(column.disk).max


def test_a_record_is_as_large_as_the_sum_of_its_columns() -> None:
    assert sum(c.disk.itemsize for c in ROWS if c.disk is not None) == RECORD_BYTES_PER_ROW


def test_same_as_names_a_column_that_stands_for_itself() -> None:
    for column in ROWS:
        if column.same_as is not None:
            assert BY_NAME[column.same_as].same_as is None
            assert BY_NAME[column.same_as].disk == column.disk


def test_details_are_marked_by_the_detail_step() -> None:
    assert {c.name for c in SCALARS + ROWS if c.merge is Merge.DETAIL} == {
        "detail_step", "largest", "zero_share", "weight_norm", "update_ratio",
    }  # fmt: skip
