"""What the writer puts into events."""

import itertools

import numpy as np
import pytest
from format_world import MemorySink, schema, single_steps
from tensorboard.compat.proto import event_pb2, summary_pb2, types_pb2

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.log_writer import LogWriter
from tb_gradhealth.format.tags import parse, segment_records
from tb_gradhealth.format.windows import Windows


def healthy(first: int, steps: int, rows: int = 1) -> Windows:
    return single_steps(first, np.ones((steps, rows), np.uint8), np.ones((steps, rows)), detail=False)


def written(sink: MemorySink) -> list[event_pb2.Event]:
    return [event_pb2.Event.FromString(record) for record in sink.records]


def tags(sink: MemorySink) -> list[str]:
    return [value.tag for event in written(sink) for value in event.summary.value]


def test_a_file_begins_with_its_version_as_tensorboard_wants_it() -> None:
    sink = MemorySink()
    LogWriter(sink)
    assert [e.file_version for e in written(sink)] == ["brain.Event:2"]


def test_the_first_event_of_a_tag_carries_the_metadata_and_no_other() -> None:
    sink = MemorySink()
    writer = LogWriter(sink)
    writer.records(healthy(0, 3), "adam", 1)
    first, *others = [e.summary.value[0] for e in written(sink)[1:]]
    assert first.metadata.plugin_data.plugin_name == "gradhealth"
    assert first.metadata.plugin_data.content == b"1"
    assert first.metadata.data_class == summary_pb2.DATA_CLASS_TENSOR
    assert not any(value.HasField("metadata") for value in others)
    assert {value.tensor.dtype for value in (first, *others)} == {types_pb2.DT_STRING}


def test_events_are_written_in_order_and_stand_at_the_last_step_of_their_window() -> None:
    sink = MemorySink()
    writer = LogWriter(sink)
    writer.schema(schema(["a"]), step=3)
    writer.records(healthy(0, 6).merged(np.array([0, 4])), "adam", 1_000)
    writer.incidents(pb.Incidents(), 5)
    writer.causes(pb.Causes(), 6)
    writer.flight(healthy(2, 2), "adam", 1_000, 4)
    assert [e.step for e in written(sink)[1:]] == [3, 3, 5, 5, 6, 2, 3]
    assert tags(sink) == [
        "schema/adam/1000", *["records/adam/1000/000000"] * 2, "incidents", "causes", *["flight/adam/1000/000004"] * 2,
    ]  # fmt: skip


def test_wall_times_never_go_backwards_whatever_the_clock_does() -> None:
    sink = MemorySink()
    clock = iter([5.0, 4.0, 6.0, 1.0])
    writer = LogWriter(sink, clock=lambda: next(clock))
    writer.records(healthy(0, 3), "adam", 1)
    assert [e.wall_time for e in written(sink)] == [5.0, 5.0, 6.0, 6.0]


@pytest.mark.parametrize("rows", [1, 200, 50_000])
def test_a_full_segment_is_followed_by_a_new_one(rows) -> None:
    sink = MemorySink()
    writer = LogWriter(sink)
    full = segment_records(rows)
    for step in range(2 * full + 1):
        writer.records(healthy(step, 1, rows), "adam", 1)
    counts = [len(list(group)) for _, group in itertools.groupby(tags(sink))]
    assert counts == [full, full, 1]
    assert [parse(tag).index for tag in dict.fromkeys(tags(sink))] == [0, 1, 2]


def test_a_segment_never_holds_a_step_twice() -> None:
    sink = MemorySink()
    writer = LogWriter(sink)
    for first, steps in ((0, 5), (5, 1), (3, 2), (3, 1)):
        writer.records(healthy(first, steps), "adam", 1)
    steps: dict[str, list[int]] = {}
    for event in written(sink)[1:]:
        steps.setdefault(event.summary.value[0].tag, []).append(event.step)
    assert list(steps.values()) == [[0, 1, 2, 3, 4, 5], [3, 4], [3]]


def test_groups_and_generations_count_their_segments_apart() -> None:
    sink = MemorySink()
    writer = LogWriter(sink)
    for group, generation in (("a", 1), ("b", 1), ("a", 2)):
        writer.records(healthy(0, 2), group, generation)
    assert list(dict.fromkeys(tags(sink))) == ["records/a/1/000000", "records/b/1/000000", "records/a/2/000000"]


def test_an_error_of_the_sink_reaches_the_caller() -> None:
    class FullDisk(MemorySink):
        def write(self, record: bytes) -> None:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        LogWriter(FullDisk())


def test_flush_and_close_are_the_sinks() -> None:
    sink = MemorySink()
    writer = LogWriter(sink)
    writer.flush()
    writer.close()
    assert (sink.flushes, sink.closed) == (1, True)
