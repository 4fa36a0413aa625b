"""Windows to records and back."""

import numpy as np
import pytest
from format_world import assert_same, cuts, histories, single_steps
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.columns import BY_NAME, ROWS
from tb_gradhealth.format.encoding import decode, encode, parse_records, read_column
from tb_gradhealth.format.states import State
from tb_gradhealth.format.tags import RECORD_BYTES_PER_ROW
from tb_gradhealth.format.windows import Windows


def through_disk(windows: Windows) -> Windows:
    payloads = [encode(windows, i).SerializeToString() for i in range(len(windows))]
    return decode(parse_records(payloads), windows.wall_time.tolist(), windows.row_count)


@given(st.data())
def test_decoding_what_was_encoded_gives_the_same_windows(data) -> None:
    history = data.draw(histories())
    assert_same(through_disk(history), history)
    merged = history.merged(cuts(data.draw, len(history)))
    assert_same(through_disk(merged), merged)


def test_blank_windows_survive_and_take_no_column() -> None:
    blank = Windows.blank(2, 5)
    assert_same(through_disk(blank), blank)
    assert all(not getattr(encode(blank), c.name) for c in ROWS)


def test_a_healthy_single_step_stores_one_norm_and_one_state_per_row() -> None:
    step = single_steps(7, np.ones((1, 1000), np.uint8), np.ones((1, 1000)), detail=False)
    record = encode(step)
    assert {c.name for c in ROWS if getattr(record, c.name)} == {"norm_last", "state_last"}
    assert len(record.SerializeToString()) < 5 * 1000 + 100


def test_no_record_is_larger_than_promised() -> None:
    states = np.tile(np.array([State.FINITE, State.ZERO, State.NONE, State.INF, State.NAN], np.uint8), (3, 200))
    states[1] = np.roll(states[0], 1)
    states[2] = np.roll(states[0], 2)
    windows = single_steps(0, states, np.random.default_rng(0).random(states.shape)).merged(np.array([0]))
    windows.detail_step[:] = 2
    for name in ("largest", "zero_share", "weight_norm", "update_ratio"):
        getattr(windows, name)[:] = 1
    record = encode(windows)
    assert all(getattr(record, c.name) for c in ROWS)
    assert len(record.SerializeToString()) < RECORD_BYTES_PER_ROW * 1000 + 300


def test_steps_far_from_zero_stay_exact() -> None:
    states = np.array([[State.NAN, State.FINITE]] * 3, np.uint8)
    windows = single_steps(2**62, states, np.ones((3, 2))).merged(np.array([0]))
    assert through_disk(windows).first_bad_step.tolist() == [[2**62, -1]]
    assert through_disk(windows).norm_max_step.tolist() == [[2**62, 2**62]]


def test_counts_saturate_at_the_largest_uint32() -> None:
    windows = single_steps(0, np.full((1, 1), State.NAN, np.uint8), np.ones((1, 1)))
    windows.nan_elements[:] = 2**40
    assert through_disk(windows).nan_elements.item() == 2**32 - 1


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_losses_and_global_norms_stay_as_they_were(value) -> None:
    windows = single_steps(0, np.ones((1, 1), np.uint8), np.ones((1, 1)))
    windows.loss[:] = windows.global_norm[:] = value
    assert_same(through_disk(windows), windows)


def test_a_zero_loss_is_not_an_absent_loss() -> None:
    windows = single_steps(0, np.ones((1, 1), np.uint8), np.ones((1, 1)))
    windows.loss[:] = 0.0
    windows.learning_rate[:] = np.nan
    record = encode(windows)
    assert record.HasField("loss")
    assert not record.HasField("learning_rate")


def test_a_column_of_the_wrong_length_is_refused_with_its_name_and_both_lengths() -> None:
    record = encode(single_steps(4, np.ones((1, 3), np.uint8), np.ones((1, 3))))
    with pytest.raises(ValueError, match=r"steps 4\.\.4 is damaged: column .state_last. has 3 bytes.* 4 rows need 4"):
        decode([record], [0.0], 4)


def test_an_absent_column_reads_as_its_default() -> None:
    record = pb.Record(first_step=9, last_step=9, norm_last=np.array([2, 3], "<f4").tobytes())
    assert read_column(record, BY_NAME["norm_max"], 2).tolist() == [2, 3]
    assert read_column(record, BY_NAME["norm_max_step"], 2) == 9
    assert read_column(record, BY_NAME["first_bad_step"], 2) == -1
    assert np.isnan(read_column(record, BY_NAME["largest"], 2))


def test_damaged_bytes_raise_a_decode_error() -> None:
    with pytest.raises(DecodeError):
        parse_records([b"\xff\xff\xff"])
