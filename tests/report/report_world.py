"""Log directories for the report, written as the recorder writes them."""

import os

from tensorboard.summary.writer.record_writer import RecordWriter

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.causes import Cause
from tb_gradhealth.format.log_writer import LogWriter
from tb_gradhealth.format.states import State
from tb_gradhealth.format.windows import Windows
from tb_gradhealth.health import Tracker

NAN = float("nan")

CAUSE = Cause(
    kind="nan",
    reason_id="sqrt_at_zero",
    reason="the derivative of sqrt at 0 is infinite",
    op="Sqrt",
    file="train.py",
    line=41,
    code="loss = tf.sqrt(d)  # <root>",
    phase="backward",
    fix="add a small epsilon under the root",
    variables=("encoder/gru/kernel",),
    step=3,
    evidence=("3 of 64 inputs were exactly 0",),
    group="adam",
)


def schema_of(names, **fields):
    schema = pb.Schema(format_version=1, group="adam", generation=7, replicas=1, optimizer="Adam", **fields)
    for name in names:
        schema.variables.append(
            pb.Variable(name=name, shape=[64, 96], dtype="float32", size=6144, layer=name.rpartition("/")[0])
        )
    return schema


def windows_of(norms, first=0):
    w = Windows.blank(len(norms), len(norms[0]))
    for t, row in enumerate(norms):
        w.first_step[t] = w.last_step[t] = first + t
        w.steps[t] = 1
        w.norm_max_step[t] = first + t
        for r, norm in enumerate(row):
            if norm is None:
                w.none_steps[t, r], w.state_last[t, r] = 1, State.NONE
            elif norm != norm:
                w.nan_steps[t, r] = w.nan_elements[t, r] = 1
                w.first_bad_step[t, r], w.state_last[t, r] = first + t, State.NAN
            else:
                w.zero_steps[t, r], w.state_last[t, r] = norm == 0, State.ZERO if norm == 0 else State.FINITE
                for column in (w.norm_last, w.norm_min, w.norm_max, w.norm_mean):
                    column[t, r] = norm
    return w


class Run:
    """A run being written."""

    def __init__(self, directory, names=("encoder/gru/kernel", "decoder/kernel"), **fields):
        os.makedirs(directory, exist_ok=True)
        self._file = open(os.path.join(directory, "events.out.tfevents.1.test"), "wb")  # noqa: SIM115
        self._log = LogWriter(RecordWriter(self._file))
        self.schema = schema_of(names, **fields)
        self._tracker = Tracker(self.schema)
        self._log.schema(self.schema)
        self._step = 0
        self._file.flush()

    def steps(self, norms, cause=None):
        windows = windows_of(norms, self._step)
        self._step += len(norms)
        self._tracker.feed(windows)
        self._log.records(windows, self.schema.group, self.schema.generation)
        incidents = pb.Incidents(format_version=1, incidents=self._tracker.to_proto())
        self._log.incidents(incidents, self._step)
        if cause is not None:
            self._log.causes(pb.Causes(format_version=1, causes=[cause.to_proto()]), self._step)
        self._file.flush()
        return self

    def close(self):
        self._file.close()


def healthy(directory, steps=5):
    Run(directory).steps([[1.0, 2.0]] * steps).close()


def ill(directory):
    Run(directory).steps([[1.0, 2.0]] * 3 + [[NAN, 2.0]] * 2, CAUSE).close()
