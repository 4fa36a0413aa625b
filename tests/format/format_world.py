"""Small worlds for the tests of the format: random windows, sinks and runs on disk."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from tensorboard.summary.writer.record_writer import RecordWriter

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.columns import ROWS, SCALARS
from tb_gradhealth.format.log_writer import LogWriter
from tb_gradhealth.format.states import State
from tb_gradhealth.format.windows import Windows

settings.register_profile("patient", deadline=None)  # a busy machine is no failure
settings.load_profile("patient")

STATES = (State.FINITE, State.ZERO, State.NONE, State.INF, State.NAN, State.NOT_RECORDED)


def single_steps(first: int, states: np.ndarray, norms: np.ndarray, *, seed: int = 0, detail: bool = True) -> Windows:
    """Windows of one step each, as a recorder makes them. `states`, `norms`: ``[steps, rows]``."""
    random = np.random.default_rng(seed)
    steps, rows = states.shape
    windows = Windows.blank(steps, rows)
    windows.first_step[:] = windows.last_step[:] = first + np.arange(steps)
    windows.steps[:] = 1
    windows.wall_time[:] = 1000.0 + windows.first_step
    windows.loss[:] = random.uniform(0, 3, steps)
    windows.loss_max[:] = windows.loss
    windows.learning_rate[:] = 0.1
    windows.global_norm[:] = windows.global_norm_max[:] = random.uniform(0, 9, steps)
    windows.skipped_steps[:] = random.integers(0, 2, steps)
    windows.record_seconds[:] = 0.001
    has_norm = (states == State.FINITE) | (states == State.ZERO)
    norm = np.where(states == State.ZERO, 0, np.where(has_norm, norms, np.nan)).astype(np.float32)
    for name in ("norm_last", "norm_min", "norm_max", "norm_mean"):
        getattr(windows, name)[:] = norm
    windows.norm_max_step[:] = windows.first_step[:, None]
    windows.state_last[:] = states
    for name, state in (("none", State.NONE), ("zero", State.ZERO), ("nan", State.NAN), ("inf", State.INF)):
        getattr(windows, f"{name}_steps")[:] = states == state
    bad = (states == State.NAN) | (states == State.INF)
    windows.handled_steps[:] = bad & (random.random(bad.shape) < 0.5)
    windows.nan_elements[:] = np.where(states == State.NAN, random.integers(1, 50, bad.shape), 0)
    windows.inf_elements[:] = np.where(states == State.INF, random.integers(1, 50, bad.shape), 0)
    windows.first_bad_step[:] = np.where(bad, windows.first_step[:, None], -1)
    if detail:
        detailed = random.random(steps) < 0.5
        windows.detail_step[:] = np.where(detailed, windows.first_step, -1)
        for name in ("largest", "zero_share", "weight_norm", "update_ratio"):
            values = random.uniform(0, 1, states.shape)
            getattr(windows, name)[:] = np.where(detailed[:, None], values, np.nan)
    return windows


@st.composite
def histories(draw: st.DrawFn, max_steps: int = 24, max_rows: int = 3, gaps: bool = True) -> Windows:
    """Single steps in any mix of states. Without `gaps` a row is recorded at every step."""
    steps = draw(st.integers(1, max_steps))
    rows = draw(st.integers(0, max_rows))
    first = draw(st.integers(0, 2**40))
    choice = st.sampled_from(STATES if gaps else STATES[:-1])
    states = np.array(draw(st.lists(choice, min_size=steps * rows, max_size=steps * rows)), np.uint8)
    seed = draw(st.integers(0, 2**16))
    norms = np.random.default_rng(seed).choice([1e-30, 0.25, 0.5, 1.0, 3.0, 1e20], (steps, rows))
    return single_steps(first, states.reshape(steps, rows), norms, seed=seed)


def cuts(draw: st.DrawFn, count: int) -> np.ndarray:
    """Where runs of windows begin: a strictly rising array that starts with 0."""
    inner = draw(st.sets(st.integers(1, count - 1))) if count > 1 else set()
    return np.array([0, *sorted(inner)])


def assert_same(actual: Windows, expected: Windows, *, but: tuple[str, ...] = ()) -> None:
    """Equality in every column, NaN equal to NaN, dtypes included."""
    for column in SCALARS + ROWS:
        if column.name not in but:
            a, b = getattr(actual, column.name), getattr(expected, column.name)
            np.testing.assert_array_equal(a, b, err_msg=column.name)
            assert a.dtype == b.dtype == column.memory, column.name


def schema(names: list[str], *, group: str = "adam", generation: int = 1_000, replicas: int = 1) -> pb.Schema:
    """A schema of scalar float32 variables."""
    message = pb.Schema(format_version=1, group=group, generation=generation, replicas=replicas, every="auto")
    for name in names:
        message.variables.add(name=name, dtype="float32", size=1, layer=name.rpartition("/")[0])
    return message


class FileSink(RecordWriter):
    """Frames records as TensorFlow does, into a file, without TensorFlow."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        super().__init__(path.open("wb"))


class MemorySink:
    """Keeps the serialised events."""

    def __init__(self) -> None:
        self.records: list[bytes] = []
        self.flushes = 0
        self.closed = False

    def write(self, record: bytes) -> None:
        self.records.append(record)

    def flush(self) -> None:
        self.flushes += 1

    def close(self) -> None:
        self.closed = True


def log_writer(directory: Path, name: str = "events.out.tfevents.1.host") -> LogWriter:
    """A writer of a new event file."""
    clock = iter(range(1_000, 10_000_000))
    return LogWriter(FileSink(directory / name), clock=lambda: float(next(clock)))


def framed(payload: bytes) -> bytes:
    """The bytes of one record in an event file."""
    stream = io.BytesIO()
    RecordWriter(stream).write(payload)
    return stream.getvalue()
