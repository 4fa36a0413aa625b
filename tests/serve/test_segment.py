"""Compact columns, against decoding everything."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from serve_world import NAN, OK, random_steps, steps

from tb_gradhealth.format.columns import ROWS, SCALARS
from tb_gradhealth.format.encoding import decode, encode, parse_records
from tb_gradhealth.format.log import Stored
from tb_gradhealth.format.windows import Windows
from tb_gradhealth.serve.segment import Segment


def stored(windows: Windows) -> list[Stored]:
    return [
        Stored("records/g/1/0", int(windows.last_step[i]), float(i), encode(windows, i).SerializeToString())
        for i in range(len(windows))
    ]


def same(actual: Windows, expected: Windows) -> None:
    for column in SCALARS + ROWS:
        a, b = getattr(actual, column.name), getattr(expected, column.name)
        np.testing.assert_array_equal(a, b, err_msg=column.name)
        assert a.dtype == b.dtype, column.name


@st.composite
def histories(draw) -> Windows:
    """Wide and single windows in a row, some of whose columns are stored and some not."""
    seed, rows = draw(st.integers(0, 2**16)), draw(st.integers(0, 4))
    parts, first = [], draw(st.integers(0, 10**9))
    for number in range(draw(st.integers(1, 3))):
        count = draw(st.integers(1, 8))
        part = random_steps(first, count, rows, ill=draw(st.sampled_from([0.0, 0.3])), seed=seed + number)
        starts = np.arange(0, count, draw(st.sampled_from([1, 1, 3])))
        parts.append(part.merged(starts))
        first += count
    return dataclasses.replace(windows := Windows.concatenate(parts), wall_time=np.arange(float(len(windows))))


@given(histories())
def test_a_segment_decodes_to_what_the_format_decodes(history) -> None:
    segment = Segment(stored(history), history.row_count)
    expected = decode(parse_records(e.payload for e in stored(history)), history.wall_time.tolist(), history.row_count)
    same(segment.windows(), expected)
    np.testing.assert_array_equal(segment.worst, expected.worst_state())
    assert segment.problems == ()


@given(histories(), st.data())
def test_any_part_and_any_rows_are_the_same_part_and_rows_of_the_whole(history, data) -> None:
    segment = Segment(stored(history), history.row_count)
    low = data.draw(st.integers(0, len(history)))
    high = data.draw(st.integers(low, len(history)))
    rows = np.array(data.draw(st.lists(st.integers(0, max(history.row_count - 1, 0)), max_size=3)), np.intp)
    rows = rows if history.row_count else rows[:0]
    part = segment.windows(slice(low, high), rows)
    same(part, segment.windows().select(slice(low, high)).select_rows(rows))
    half = slice(0, history.row_count // 2)
    same(segment.windows(slice(low, high), half), segment.windows().select(slice(low, high)).select_rows(half))


def test_it_takes_no_more_memory_than_the_records_and_a_byte_for_each_state() -> None:
    for width in (1, 8):
        windows = random_steps(0, 512, 300, ill=0.001).merged(np.arange(0, 512, width))
        elements = stored(windows)
        payload = sum(len(e.payload) for e in elements)
        assert Segment(elements, 300).nbytes <= payload + len(windows) * 300


def test_a_damaged_record_costs_itself_and_is_told() -> None:
    elements = stored(steps(0, [[OK, NAN], [OK, OK], [NAN, OK]]))
    elements[1] = dataclasses.replace(elements[1], payload=b"\xff\xff\xff")
    elements.append(dataclasses.replace(stored(steps(3, [[OK]]))[0], step=3))
    segment = Segment(elements, 2)
    assert segment.scalars.first_step.tolist() == [0, 2]
    assert segment.worst.tolist() == [[OK, NAN], [NAN, OK]]
    assert [p.partition(": ")[0] for p in segment.problems] == ["records/g/1/0, step 1", "records/g/1/0, step 3"]


def test_no_records_are_an_empty_segment() -> None:
    segment = Segment([], 3)
    assert len(segment) == 0
    assert segment.worst.shape == (0, 3)
    assert segment.column("norm_max").shape == (0, 3)
    assert segment.windows().row_count == 3


@pytest.mark.parametrize("name", [c.name for c in ROWS])
def test_a_column_is_of_the_kind_that_it_is_on_disk_and_takes_no_memory_where_it_is_not_stored(name) -> None:
    column = next(c for c in ROWS if c.name == name)
    for windows in (Windows.blank(2, 2), random_steps(0, 2, 2, ill=1.0)):
        segment = Segment(stored(windows), 2)
        values = segment.column(name)
        assert values.shape == (2, 2)
        assert values.dtype.kind == (column.memory.kind if values.dtype.itemsize == 8 else column.disk.kind)
    assert Segment(stored(Windows.blank(2, 2)), 2).column(name).strides[1] == 0
