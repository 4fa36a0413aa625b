"""Large logs for `dashboard.py`, made as the recorder makes them: steps → `WindowBuilder` → `LogWriter` → event file.

A training of a million steps is not run for it. Where windows are wide the numbers of a whole window are drawn at once
and given to the builder as that window, so the records, their columns, segments and files are those of a real run.
"""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorboard.compat.proto import event_pb2, summary_pb2

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.log_writer import LogWriter
from tb_gradhealth.format.reader import read_run
from tb_gradhealth.format.windows import Windows
from tb_gradhealth.record.builder import WindowBuilder
from tb_gradhealth.record.sink import EventFile, run_dir

_DETAIL = 100  # every hundredth step is detailed
_PORTION = 64


@dataclasses.dataclass(frozen=True)
class Shape:
    """How large a run is.

    Attributes:
      every: ``"auto"`` or the width of the windows in steps.
    """

    variables: int
    steps: int
    every: int | str = "auto"

    @property
    def name(self) -> str:
        return f"{self.variables}x{self.steps}_{self.every}"


class GrowingRun:
    """A run whose training goes on: written up to some step, and further when told.

    One variable is NaN at one step, two thirds into the first part.
    """

    def __init__(self, log_dir: Path, shape: Shape) -> None:
        self.shape = shape
        self.directory = Path(run_dir(str(log_dir)))
        self._random = np.random.default_rng(0)
        self._usual = self._random.uniform(-4, 0, shape.variables).astype(np.float32)
        self._writer = LogWriter(EventFile(str(self.directory)))
        self._builder = WindowBuilder(shape.every)
        self._schema = _schema(shape)
        self._step = 0
        self._writer.schema(self._schema)
        self.train(shape.steps)

    @property
    def last_step(self) -> int:
        """The last step in the log."""
        return self._step - 1

    @property
    def nbytes(self) -> int:
        """Bytes of the event file."""
        return sum(path.stat().st_size for path in self.directory.iterdir())

    def train(self, steps: int) -> None:
        """Trains on for so many steps, or a few more to complete the last window."""
        end = self._step + steps
        while self._step < end:
            width = self._builder.width
            count = min(_PORTION, -(-(end - self._step) // width))
            windows = _windows(self._random, self._usual, self._step, count, width, self.shape)
            self._writer.records(self._builder.add(windows), self._schema.group, self._schema.generation)
            self._step = int(windows.last_step[-1]) + 1
        self._writer.flush()

    def train_records(self, records: int) -> None:
        """Trains on until so many further records are written."""
        self.train(records * self._builder.width)

    def close(self) -> None:
        self._writer.close()


def write_scalars(log_dir: Path, run: GrowingRun) -> int:
    """The largest norm of every record and variable of a run as ordinary scalars, one for each variable.

    What a user would log without this project: nothing else in the file, all values of a step in one event.

    Returns:
      how many values there are.
    """
    (group,) = read_run(str(run.directory)).groups.values()
    log_dir.mkdir(parents=True, exist_ok=True)
    names = [f"grad_norm/{v.name}" for v in group.schema.variables]
    metadata = summary_pb2.SummaryMetadata(data_class=summary_pb2.DATA_CLASS_SCALAR)
    metadata.plugin_data.plugin_name = "scalars"
    with tf.io.TFRecordWriter(str(log_dir / f"events.out.tfevents.{int(time.time())}.host")) as file:
        file.write(event_pb2.Event(file_version="brain.Event:2").SerializeToString())
        for index, step in enumerate(group.windows.last_step.tolist()):
            event = event_pb2.Event(step=step, wall_time=float(group.windows.wall_time[index]))
            for name, value in zip(names, group.windows.norm_max[index].tolist(), strict=True):
                added = event.summary.value.add(tag=name)
                added.tensor.dtype = 1
                added.tensor.float_val.append(value)
                if index == 0:
                    added.metadata.CopyFrom(metadata)
            file.write(event.SerializeToString())
    return group.windows.norm_max.size


def _schema(shape: Shape) -> pb.Schema:
    schema = pb.Schema(
        format_version=1, group="adam", generation=1_700_000_000_000, replicas=1, every=str(shape.every),
        hooked="keras.fit", optimizer="Adam", norm_of="gradient",
    )  # fmt: skip
    for index in range(shape.variables):
        layer = f"block_{index // 8}/dense_{index % 8 // 2}"
        name = f"{layer}/{'bias' if index % 2 else 'kernel'}"
        schema.variables.add(name=name, layer=layer, dtype="float32", shape=[64, 64], size=4096)
    return schema


def _windows(
    random: np.random.Generator, usual: np.ndarray, step: int, count: int, width: int, shape: Shape
) -> Windows:
    """`count` windows of `width` steps each: norms that wander about what is usual for each variable."""
    rows = len(usual)
    windows = Windows.blank(count, rows)
    windows.first_step[:] = step + width * np.arange(count)
    windows.last_step[:] = windows.first_step + width - 1
    windows.steps[:] = width
    windows.wall_time[:] = time.time()
    windows.loss[:] = windows.loss_max[:] = 2.0 / (1 + windows.first_step / shape.steps)
    windows.global_norm[:] = windows.global_norm_max[:] = 1.0
    windows.learning_rate[:] = 1e-3
    middle = usual + random.normal(0, 0.1, (count, rows)).astype(np.float32)
    spread = random.gamma(2, 0.05 if width > 1 else 0, (count, rows)).astype(np.float32)
    windows.norm_mean[:] = windows.norm_last[:] = 10**middle
    windows.norm_min[:], windows.norm_max[:] = 10 ** (middle - spread), 10 ** (middle + spread)
    if width > 1:
        windows.norm_last[:] = 10 ** (middle + random.uniform(-1, 1, middle.shape) * spread)
    windows.norm_max_step[:] = windows.first_step[:, None] + random.integers(0, width, middle.shape)
    windows.state_last[:] = 1
    detailed = windows.last_step // _DETAIL * _DETAIL
    windows.detail_step[:] = np.where(detailed >= windows.first_step, detailed, -1)
    at = windows.detail_step >= 0
    windows.largest[at] = windows.norm_last[at] / 8
    windows.zero_share[at] = random.uniform(0, 0.05, (int(at.sum()), rows))
    windows.weight_norm[at] = 8.0
    windows.update_ratio[at] = random.uniform(5e-4, 2e-3, (int(at.sum()), rows))
    _strike(windows, shape)
    return windows


def _strike(windows: Windows, shape: Shape) -> None:
    """One NaN in one gradient at two thirds of the run."""
    step, row = shape.steps * 2 // 3, shape.variables // 2
    hit = (windows.first_step <= step) & (step <= windows.last_step)
    windows.nan_steps[hit, row] = 1
    windows.nan_elements[hit, row] = 3
    windows.first_bad_step[hit, row] = step
    single = hit & (windows.steps == 1)
    windows.state_last[single, row] = 5
    for name in ("norm_last", "norm_min", "norm_max", "norm_mean"):
        getattr(windows, name)[single, row] = np.nan
