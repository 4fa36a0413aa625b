"""A log directory with a run for each state of the world, written by the real writer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from serve_world import INF, NAN, NONE, OK, ZERO, random_steps, record_sink, schema, steps, write_run
from tensorboard.compat.proto import event_pb2, summary_pb2, types_pb2

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.causes import Cause
from tb_gradhealth.format.log_writer import LogWriter

ODD = "we ird/ü<b>&x"
LONG = "layer/" * 49 + "kernel"
RUNS = {
    "healthy/gradhealth": 699,
    "ill/gradhealth": 1_199,
    "resumed/gradhealth": 399,
    "back/gradhealth": 349,
    "begun/gradhealth": None,
    "newer/gradhealth": 0,
    "cut/gradhealth": 23,
    "broken/gradhealth": 20,
    f"{ODD}/gradhealth": 39,
    "replicas/gradhealth": 99,
}
"""Runs with data of ours, and the last step that TensorBoard can show of each; `broken` depends on the loader."""


def write_logs(logdir: Path) -> None:
    """Fills an empty directory."""
    write_run(logdir / "healthy/gradhealth", _healthy)
    write_run(logdir / "ill/gradhealth", _ill)
    resumed = logdir / "resumed/gradhealth"
    write_run(resumed, lambda w: _generation(w, ["a", "b"], 1_000, random_steps(0, 300, 2)))
    write_run(
        resumed,
        lambda w: _generation(w, ["b", "c"], 2_000, random_steps(200, 200, 2, seed=1)),
        "events.out.tfevents.2.host",
    )
    write_run(
        logdir / "back/gradhealth",
        lambda w: _generation(w, ["a"], 1_000, random_steps(0, 700, 1), random_steps(100, 250, 1, seed=1)),
    )
    write_run(logdir / "begun/gradhealth", lambda w: _generation(w, ["a", "b"], 1_000))
    write_run(logdir / "newer/gradhealth", _newer)
    for name, damage in (("cut", _cut), ("broken", _broken)):
        run = logdir / name / "gradhealth"
        write_run(run, lambda w: _generation(w, ["a", "b"], 1_000, random_steps(0, 30, 2)))
        damage(run / "events.out.tfevents.1.host")
    write_run(
        logdir / ODD / "gradhealth", lambda w: _generation(w, [LONG, "<i>", "a,b"], 1_000, random_steps(0, 40, 3))
    )
    write_run(logdir / "replicas/gradhealth", _replicas)
    sink = record_sink(logdir / "train" / "events.out.tfevents.1.host")
    sink.write(event_pb2.Event(file_version="brain.Event:2").SerializeToString())
    event = event_pb2.Event(step=3, wall_time=1_000.0)
    value = event.summary.value.add(tag="incidents")  # another plugin's series, named like one of ours
    value.metadata.plugin_data.plugin_name = "text"
    value.metadata.data_class = summary_pb2.DATA_CLASS_TENSOR
    value.tensor.dtype = types_pb2.DT_STRING
    value.tensor.tensor_shape.SetInParent()
    value.tensor.string_val.append(b"the model fell over")
    sink.write(event.SerializeToString())
    sink.close()


def _generation(writer: LogWriter, names: list[str], generation: int, *windows: object) -> None:
    writer.schema(schema(names, generation=generation))
    for part in windows:
        writer.records(part, "adam", generation)


def _healthy(writer: LogWriter) -> None:
    _generation(writer, ["enc/k", "enc/b", "dec/k"], 1_000, steps(0, np.full((700, 3), OK), [[1.0, 0.1, 2.0]]))


def _ill(writer: LogWriter) -> None:
    """Single steps, then wide windows; every state; a flight around the first NaN; two groups; a cause."""
    states = np.full((1_200, 4), OK)
    states[:, 1] = NONE
    states[700:705, 2] = NAN
    states[720, 3] = INF
    states[300:310, 3] = ZERO
    windows = steps(0, states, 10.0 ** np.random.default_rng(0).uniform(-3, 0, (1_200, 4)))
    writer.schema(schema(["a", "b", "c", "d"]))
    writer.records(windows.select(slice(0, 512)), "adam", 1_000)
    writer.records(windows.select(slice(512, None)).merged(np.arange(0, 688, 8)), "adam", 1_000)
    writer.flight(windows.select(slice(650, 760)), "adam", 1_000, 0)
    writer.schema(schema(["x/y"], group="sgd/ü", generation=1_001))
    writer.records(steps(5, np.full((20, 1), OK)), "sgd/ü", 1_001)
    cause = Cause(
        kind="nan", reason_id="sqrt_at_zero", reason="infinite <b>derivative</b>", op="Sqrt", file="train.py", line=41,
        code="loss = tf.sqrt(d)", variables=("c",), step=700, group="adam",
    )  # fmt: skip
    writer.causes(pb.Causes(format_version=1, causes=[cause.to_proto()]), 1_199)
    incident = pb.Incident(
        kind="nan", group="adam", generation=1_000, first_step=700, last_step=704, steps=5, rows=[2], row_count=1,
        cause_id=cause.id,
    )  # fmt: skip
    writer.incidents(pb.Incidents(format_version=1), 10)
    writer.incidents(pb.Incidents(format_version=1, incidents=[incident]), 1_199)


def _newer(writer: LogWriter) -> None:
    writer.schema(schema(["a"], format_version=2))
    writer.records(steps(0, [[OK]]), "adam", 1_000)


def _replicas(writer: LogWriter) -> None:
    writer.schema(schema(["a", "b"], replicas=2))
    states = np.full((100, 4), OK)
    states[40, 3] = NAN
    writer.records(steps(0, states, [[1, 2, 3, 4]]), "adam", 1_000)


def _cut(path: Path) -> None:
    """As if the process had been killed while it wrote step 24."""
    data = path.read_bytes()
    path.write_bytes(data[: _offset(data, 26) + 20])


def _broken(path: Path) -> None:
    """Bits that flipped on the disk: in the length of the record of step 21."""
    data = bytearray(path.read_bytes())
    data[_offset(bytes(data), 23)] ^= 0xFF
    path.write_bytes(data)


def _offset(data: bytes, index: int) -> int:
    """Where the record of that index begins. The first two are the file's version and the schema."""
    at = 0
    for _ in range(index):
        at += 16 + int.from_bytes(data[at : at + 8], "little")
    return at
