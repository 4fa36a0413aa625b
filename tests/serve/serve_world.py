"""Small worlds for the tests of the server: synthetic runs on disk, and a data provider in memory."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from tensorboard.compat.proto import event_pb2
from tensorboard.context import RequestContext
from tensorboard.data import provider as tb_provider
from tensorboard.summary.writer.record_writer import RecordWriter

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.log_writer import LogWriter
from tb_gradhealth.format.states import State
from tb_gradhealth.format.windows import Windows

OK, ZERO, NONE, INF, NAN = State.FINITE, State.ZERO, State.NONE, State.INF, State.NAN


def steps(
    first: int, states: Any, norms: Any = 1.0, *, details: bool = True, loss: float = 1.0, seed: int = 0
) -> Windows:
    """Windows of one step each. `states`: ``[steps, rows]``; `norms`: broadcast to that."""
    states = np.asarray(states, np.uint8)
    random = np.random.default_rng(seed)
    count, rows = states.shape
    windows = Windows.blank(count, rows)
    windows.first_step[:] = windows.last_step[:] = first + np.arange(count)
    windows.steps[:] = 1
    windows.loss[:] = windows.loss_max[:] = loss + 0.01 * np.arange(count)
    windows.learning_rate[:] = 0.125
    windows.global_norm[:] = windows.global_norm_max[:] = 3.0
    with_norm = (states == State.FINITE) | (states == State.ZERO)
    norm = np.where(with_norm, np.where(states == State.ZERO, 0, norms), np.nan).astype(np.float32)
    for name in ("norm_last", "norm_min", "norm_max", "norm_mean"):
        getattr(windows, name)[:] = norm
    windows.norm_max_step[:] = windows.first_step[:, None]
    windows.state_last[:] = states
    for name, state in (("none", NONE), ("zero", ZERO), ("nan", NAN), ("inf", INF)):
        getattr(windows, f"{name}_steps")[:] = states == state
    windows.nan_elements[:] = np.where(states == NAN, 5, 0)
    windows.inf_elements[:] = np.where(states == INF, 2, 0)
    windows.first_bad_step[:] = np.where(states >= INF, windows.first_step[:, None], -1)
    if details:
        detailed = windows.first_step % 4 == 0
        windows.detail_step[:] = np.where(detailed, windows.first_step, -1)
        for name, usual in (("largest", 0.1), ("zero_share", 0.1), ("weight_norm", 10.0), ("update_ratio", 1e-3)):
            values = usual * random.uniform(0.5, 2, states.shape)
            getattr(windows, name)[:] = np.where(detailed[:, None], values, np.nan)
    return windows


def random_steps(first: int, count: int, rows: int, *, ill: float = 0.01, seed: int = 0) -> Windows:
    """Steps with norms over many decades, some of them ill."""
    random = np.random.default_rng(seed)
    states = np.where(random.random((count, rows)) < ill, random.integers(1, 6, (count, rows)), OK)
    return steps(first, states, 10.0 ** random.uniform(-6, 2, (count, rows)), seed=seed)


def schema(
    names: Sequence[str], *, group: str = "adam", generation: int = 1_000, replicas: int = 1, format_version: int = 1
) -> pb.Schema:
    message = pb.Schema(
        format_version=format_version,
        group=group,
        generation=generation,
        replicas=replicas,
        every="auto",
        hooked="keras.fit",
        optimizer="Adam",
        norm_of="gradient",
        clip_norm=1.5,
        software={"tensorflow": "2.21.0"},
    )
    for name in names:
        message.variables.add(name=name, dtype="float32", shape=[2, 3], size=6, layer=name.rpartition("/")[0])
    return message


class Sink:
    """Hands the serialised events on."""

    def __init__(self, write: Callable[[bytes], Any]) -> None:
        self.write = write

    def flush(self) -> None: ...

    def close(self) -> None: ...


def ticking(start: float = 1_000.0) -> Callable[[], float]:
    """A clock that goes on by a second at each look."""
    times = iter(np.arange(start, start + 10_000_000))
    return lambda: float(next(times))


class FakeProvider:
    """A data provider over what writers have written into it: what both of TensorBoard's loaders promise, no more."""

    def __init__(self) -> None:
        self.stored: dict[str, dict[str, list[tb_provider.TensorDatum]]] = {}
        self.content: dict[tuple[str, str], bytes] = {}
        self.reads: list[tuple[str, str]] = []
        self.failures: list[Exception] = []

    def writer(self, run: str, start: float = 1_000.0) -> LogWriter:
        """A writer into that run."""
        return LogWriter(Sink(lambda record: self._take(run, record)), clock=ticking(start))

    def _take(self, run: str, record: bytes) -> None:
        event = event_pb2.Event.FromString(record)
        tags = self.stored.setdefault(run, {})
        for value in event.summary.value:
            if value.HasField("metadata"):
                self.content[run, value.tag] = value.metadata.plugin_data.content
            datum = np.array(value.tensor.string_val[0], object)
            tags.setdefault(value.tag, []).append(tb_provider.TensorDatum(event.step, event.wall_time, datum))

    def list_plugins(self, ctx: Any = None, *, experiment_id: str) -> list[str]:
        self._fail()
        return ["gradhealth"] if any(self.stored.values()) else []

    def list_runs(self, ctx: Any = None, *, experiment_id: str) -> list[tb_provider.Run]:
        self._fail()
        return [tb_provider.Run(run_id=run, run_name=run, start_time=0.0) for run in self.stored]

    def list_tensors(self, ctx: Any = None, *, experiment_id: str, plugin_name: str, run_tag_filter: Any = None) -> Any:
        self._fail()
        return {
            run: {
                tag: tb_provider.TensorTimeSeries(
                    max_step=max(d.step for d in data),
                    max_wall_time=max(d.wall_time for d in data),
                    plugin_content=self.content[run, tag],
                    description="",
                    display_name="",
                )
                for tag, data in tags.items()
            }
            for run, tags in self.stored.items()
            if tags and (run_tag_filter.runs is None or run in run_tag_filter.runs)
        }

    def read_tensors(
        self, ctx: Any = None, *, experiment_id: str, plugin_name: str, downsample: int, run_tag_filter: Any = None
    ) -> Any:
        self._fail()
        (run,), (tag,) = run_tag_filter.runs, run_tag_filter.tags
        self.reads.append((run, tag))
        data = self.stored.get(run, {}).get(tag)
        if data is None:
            return {}
        return {run: {tag: list(data) if downsample > len(data) else data[-downsample:]}}

    def _fail(self) -> None:
        if self.failures:
            raise self.failures.pop(0)


def record_sink(path: Path) -> Any:
    """TensorFlow's own record writer; where TensorFlow is not installed, TensorBoard's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if importlib.util.find_spec("tensorflow") is None:
        return RecordWriter(path.open("wb"))
    import tensorflow as tf

    return tf.io.TFRecordWriter(str(path))


def write_run(path: Path, fill: Callable[[LogWriter], Any], name: str = "events.out.tfevents.1.host") -> None:
    """A run on disk."""
    writer = LogWriter(record_sink(path / name), clock=ticking())
    fill(writer)
    writer.close()


def plugin(provider: Any, **context: Any) -> Any:
    """The plugin over a provider, without a TensorBoard."""
    from tb_gradhealth.serve.plugin import GradHealthPlugin

    return GradHealthPlugin(SimpleNamespace(data_provider=provider, sampling_hints=None, **context))


def where() -> Any:
    from tb_gradhealth.serve.source import Where

    return Where(RequestContext(), "")
