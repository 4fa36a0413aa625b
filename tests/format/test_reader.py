"""Runs on disk: whole, cut off, damaged, foreign, resumed."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from format_world import FileSink, assert_same, framed, log_writer, schema, single_steps
from tensorboard.compat.proto import event_pb2

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.reader import find_runs, read_run
from tb_gradhealth.format.windows import Windows


def healthy(first: int, steps: int, rows: int = 2, norm: float = 1.0) -> Windows:
    return single_steps(first, np.ones((steps, rows), np.uint8), np.full((steps, rows), norm))


def write(directory: Path, windows: Windows, *, name: str = "events.out.tfevents.1.h", generation: int = 1_000) -> Path:
    writer = log_writer(directory, name)
    writer.schema(schema(["a", "b"], generation=generation))
    writer.records(windows, "adam", generation)
    writer.incidents(pb.Incidents(incidents=[pb.Incident(kind="nan")]), 1)
    writer.close()
    return directory / name


def test_a_run_reads_as_it_was_written(tmp_path) -> None:
    history = healthy(0, 1_200)
    write(tmp_path, history)
    run = read_run(str(tmp_path))
    assert_same(run.groups["adam"].windows, history, but=("wall_time",))
    assert (np.diff(run.groups["adam"].windows.wall_time) > 0).all()
    assert [i.kind for i in run.incidents] == ["nan"]
    assert run.problems == ()


def test_tensorflows_own_writer_frames_records_as_the_reader_expects(tmp_path) -> None:
    tf = pytest.importorskip("tensorflow")
    from tb_gradhealth.format.log_writer import LogWriter

    writer = LogWriter(tf.io.TFRecordWriter(str(tmp_path / "events.out.tfevents.1.h")))
    writer.schema(schema(["a", "b"]))
    writer.records(healthy(0, 30), "adam", 1_000)
    writer.close()
    assert_same(read_run(str(tmp_path)).groups["adam"].windows, healthy(0, 30), but=("wall_time",))


def test_a_second_file_resumes_the_run(tmp_path) -> None:
    write(tmp_path, healthy(0, 10, norm=1))
    write(tmp_path, healthy(6, 10, norm=2), name="events.out.tfevents.2.h", generation=2_000)
    windows = read_run(str(tmp_path)).groups["adam"].windows
    assert windows.norm_last[:, 0].tolist() == [1] * 6 + [2] * 10


def test_a_file_cut_off_anywhere_yields_everything_before_the_cut_without_a_complaint(tmp_path) -> None:
    whole = write(tmp_path / "whole", healthy(0, 5)).read_bytes()
    cut = tmp_path / "cut" / "events.out.tfevents.1.h"
    cut.parent.mkdir()
    seen = set()
    for length in range(len(whole)):
        cut.write_bytes(whole[:length])
        run = read_run(str(cut.parent))
        assert run.problems == (), length
        count = len(run.groups["adam"].windows) if run.groups else -1
        seen.add(count)
        if run.groups:
            assert_same(run.groups["adam"].windows, healthy(0, 5).select(slice(0, count)), but=("wall_time",))
    assert seen == {-1, 0, 1, 2, 3, 4, 5}


def test_a_damaged_length_ends_the_file_there_and_says_where(tmp_path) -> None:
    path = write(tmp_path, healthy(0, 5))
    data = bytearray(path.read_bytes())
    payloads = [e.summary.value[0].tag if e.summary.value else "" for e in _events(path)]
    start = _offset(path, payloads.index("records/adam/1000/000000") + 2)
    data[start] ^= 0xFF
    path.write_bytes(data)
    run = read_run(str(tmp_path))
    assert len(run.groups["adam"].windows) == 2
    assert list(run.problems) == [f"{path}: damaged at byte {start}; the rest of this file is lost."]


def test_an_event_that_does_not_parse_is_left_out_and_told(tmp_path) -> None:
    path = write(tmp_path, healthy(0, 5))
    data = path.read_bytes()
    start, end = _offset(path, 3), _offset(path, 4)
    path.write_bytes(data[:start] + framed(b"\xff\xff\xff") + data[end:])
    run = read_run(str(tmp_path))
    assert run.groups["adam"].windows.first_step.tolist() == [0, 2, 3, 4]
    assert list(run.problems) == [f"{path}: an event is damaged and was left out."]


def test_a_series_whose_first_event_was_damaged_is_read_from_the_second_on(tmp_path) -> None:
    path = write(tmp_path, healthy(0, 5))
    data = path.read_bytes()
    path.write_bytes(data[: _offset(path, 2)] + framed(b"\xff\xff\xff") + data[_offset(path, 3) :])
    assert read_run(str(tmp_path)).groups["adam"].windows.first_step.tolist() == [1, 2, 3, 4]


def test_another_plugins_series_of_the_same_name_is_not_taken_for_ours(tmp_path) -> None:
    event = event_pb2.Event(step=1, wall_time=1.0)
    value = event.summary.value.add(tag="incidents")
    value.metadata.plugin_data.plugin_name = "text"
    value.tensor.dtype = 7
    value.tensor.string_val.append(b"the model fell over")
    sink = FileSink(tmp_path / "train" / "events.out.tfevents.1.h")
    sink.write(event.SerializeToString())
    sink.close()
    assert find_runs(str(tmp_path)) == []
    assert read_run(str(tmp_path / "train")).problems == ()


def test_runs_are_found_at_any_depth_and_named_as_tensorboard_names_them(tmp_path) -> None:
    for name in (".", "b/gradhealth", "a/deep/er"):
        write(tmp_path / name, healthy(0, 1))
    (tmp_path / "empty").mkdir()
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "events.out.tfevents.1.h").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("no events here")
    assert find_runs(str(tmp_path)) == [".", "a/deep/er", "b/gradhealth"]
    assert find_runs(str(tmp_path) + "/") == [".", "a/deep/er", "b/gradhealth"]


def test_a_missing_log_directory_is_named_and_the_way_out_told(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match=r"There is no log directory '.*nowhere'. Pass the directory given to"):
        find_runs(str(tmp_path / "nowhere"))


def test_a_directory_without_event_files_is_an_empty_run(tmp_path) -> None:
    assert read_run(str(tmp_path)).groups == {}


def test_reading_a_run_imports_no_tensorflow(tmp_path) -> None:
    write(tmp_path, healthy(0, 2))
    check = "import sys; from tb_gradhealth.format.reader import read_run; run = read_run(sys.argv[1]); {}"
    check += "assert len(run.groups['adam'].windows) == 2; sys.exit('tensorflow' in sys.modules)"
    command = [sys.executable, "-c", check.format(""), str(tmp_path)]
    assert subprocess.run(command, check=False).returncode == 0
    pytest.importorskip("tensorflow")
    command[2] = check.format("import tensorflow; ")
    assert subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == 1


def _events(path: Path) -> list[event_pb2.Event]:
    data, events = path.read_bytes(), []
    while data:
        length = int.from_bytes(data[:8], "little")
        events.append(event_pb2.Event.FromString(data[12 : 12 + length]))
        data = data[16 + length :]
    return events


def _offset(path: Path, index: int) -> int:
    """Where the event of that index begins in the file."""
    return sum(16 + event.ByteSize() for event in _events(path)[:index])
