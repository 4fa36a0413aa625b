"""Runs on disk for the browser to look at: written with the real format and the real rules, without a training."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tensorboard.summary.writer.record_writer import RecordWriter

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.causes import Cause
from tb_gradhealth.format.log_writer import LogWriter
from tb_gradhealth.format.states import State
from tb_gradhealth.format.windows import Windows
from tb_gradhealth.health import Tracker

OK, ZERO, NONE, INF, NAN = State.FINITE, State.ZERO, State.NONE, State.INF, State.NAN
START = 1_700_000_000.0
RUNS = 15
"""How many runs `write_all` makes."""


def windows_of(first: int, states: Any, norms: Any, **scalars: Any) -> Windows:
    """Single steps. `states`, `norms`: ``[steps, rows]``."""
    states = np.asarray(states, np.uint8)
    count, rows = states.shape
    w = Windows.blank(count, rows)
    w.first_step[:] = w.last_step[:] = first + np.arange(count)
    w.steps[:] = 1
    norm = np.where(states == OK, norms, np.where(states == ZERO, 0, np.nan)).astype(np.float32)
    for name in ("norm_last", "norm_min", "norm_max", "norm_mean"):
        getattr(w, name)[:] = norm
    w.norm_max_step[:] = w.first_step[:, None]
    w.state_last[:] = states
    for name, state in (("none", NONE), ("zero", ZERO), ("nan", NAN), ("inf", INF)):
        getattr(w, f"{name}_steps")[:] = states == state
    w.nan_elements[:] = np.where(states == NAN, 5, 0)
    w.inf_elements[:] = np.where(states == INF, 2, 0)
    w.first_bad_step[:] = np.where(states >= INF, w.first_step[:, None], -1)
    w.detail_step[:] = w.first_step
    w.largest[:] = norm / 4
    w.zero_share[:] = np.where(states == ZERO, 1, np.where(states == OK, 0.02, np.nan))
    w.weight_norm[:] = 3.0
    w.update_ratio[:] = norm * 1e-2 / 3
    for name, values in scalars.items():
        getattr(w, name)[:] = values
    return w


def walk(steps: int, rows: int, seed: int) -> np.ndarray:
    """Norms that wander as gradients do: ``[steps, rows]``."""
    random = np.random.default_rng(seed)
    level = random.uniform(-2.5, 0.2, rows)
    drift = np.cumsum(random.normal(0, 0.02, (steps, rows)), axis=0)
    return 10.0 ** (level + drift + random.normal(0, 0.12, (steps, rows)))


def schema_of(variables: Sequence[Mapping[str, Any] | str], group: str = "adam", **fields: Any) -> pb.Schema:
    schema = pb.Schema(
        group=group,
        generation=1_000,
        **{
            "format_version": 1,
            "replicas": 1,
            "every": "auto",
            "hooked": "keras.fit",
            "optimizer": "Adam",
            "norm_of": "gradient",
            "software": {"tensorflow": "2.21.0"},
            **fields,
        },
    )
    for given in variables:
        own = {"name": given} if isinstance(given, str) else dict(given)
        own.setdefault("layer", own["name"].rpartition("/")[0])
        schema.variables.add(**{"dtype": "float32", "shape": [64, 96], "size": 6144, **own})
    return schema


@dataclasses.dataclass
class RunWriter:
    """One run directory, open for writing; `add` may be called again and again, as a training would."""

    log_dir: Path
    schemas: Sequence[pb.Schema]
    causes: Sequence[Cause] = ()
    start: float = START

    def __post_init__(self) -> None:
        folder = self.log_dir / "gradhealth"
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "events.out.tfevents.1700000000.test.1.0"
        self._now = self.start
        self._file = open(self.path, "ab")  # noqa: SIM115
        self._log = LogWriter(RecordWriter(self._file), clock=self._clock)
        self._trackers = {schema.group: Tracker(schema) for schema in self.schemas}
        for schema in self.schemas:
            self._log.schema(schema)
        if self.causes:
            self._log.causes(pb.Causes(format_version=1, causes=[c.to_proto() for c in self.causes]), 0)
        self._log.flush()

    def _clock(self) -> float:
        self._now += 0.01
        return self._now

    def add(self, windows: Windows, group: str = "adam") -> None:
        schema = next(s for s in self.schemas if s.group == group)
        self._log.records(windows, group, schema.generation)
        self._trackers[group].feed(windows)
        incidents = [i for tracker in self._trackers.values() for i in tracker.to_proto()]
        for incident in incidents:
            incident.cause_id = next((c.id for c in self.causes if c.kind == incident.kind), "")
        self._log.incidents(pb.Incidents(format_version=1, incidents=incidents), int(windows.last_step[-1]))
        self._log.flush()

    def flight(self, windows: Windows, group: str = "adam", number: int = 0) -> None:
        schema = next(s for s in self.schemas if s.group == group)
        self._log.flight(windows, group, schema.generation, number)
        self._log.flush()

    def close(self) -> None:
        self._log.close()


SEQ2SEQ = (
    *(f"encoder/gru/{n}" for n in ("kernel", "recurrent_kernel", "bias")),
    *(f"decoder/gru/{n}" for n in ("kernel", "recurrent_kernel", "bias")),
    "decoder/dense/kernel",
    "decoder/dense/bias",
    "embedding/embeddings",
)


def seq2seq(log_dir: Path, steps: int = 600, ill: bool = True) -> RunWriter:
    """An encoder that is NaN at step 333, alone, and from step 480 on; a bias that is exactly zero for a while."""
    states = np.full((steps, len(SEQ2SEQ)), OK)
    norms = walk(steps, len(SEQ2SEQ), 1)
    if ill:
        states[333, :3] = NAN
        states[480:, :3] = NAN
        states[479, 1] = INF
        norms[440:479, :3] *= np.logspace(0, 3, 39)[:, None]
        states[100:140, 7] = ZERO
    cause = Cause(
        kind="nan",
        reason_id="sqrt_at_zero",
        reason="The derivative of sqrt at 0 is infinite, and infinity times 0 is NaN.",
        op="Sqrt",
        file="/home/ada/train.py",
        line=41,
        code="loss = tf.sqrt(tf.reduce_mean(tf.math.squared_difference(y, guess)))",
        phase="backward",
        fix="Add a small epsilon under the root: tf.sqrt(d + 1e-12).",
        certainty="certain",
        variables=SEQ2SEQ[:3],
        step=333,
        evidence=("3 of 64 inputs of the root were exactly 0.", "The loss itself was finite."),
        group="adam",
    )
    run = RunWriter(log_dir, [schema_of(SEQ2SEQ, clip_norm=1.25)], [cause] if ill else [])
    loss = 2.3 * np.exp(-np.arange(steps) / 300) + 0.05 * np.sin(np.arange(steps) / 7)
    windows = windows_of(0, states, norms, loss=loss, loss_max=loss, learning_rate=1e-3, global_norm=norms.sum(1))
    run.add(windows)
    if ill:
        run.flight(windows.select(slice(300, 366)))
    return run


def vae(log_dir: Path, steps: int = 200) -> RunWriter:
    """A decoder that no gradient reaches."""
    names = [f"decoder/{n}" for n in ("gru/kernel", "gru/bias", "dense/kernel")]
    names += [f"encoder/{n}" for n in ("dense/kernel", "dense/bias", "mean/kernel")]
    frozen = {"name": "embedding/table", "role": pb.Variable.FROZEN}
    states = np.full((steps, 7), OK)
    states[:, :3] = NONE
    states[:, 6] = 0
    run = RunWriter(
        log_dir,
        [schema_of([*names, frozen], hooked="watch")],
        [
            Cause(
                kind="none",
                reason_id="assigned",
                reason="The prediction is written into a variable by assignment, and no gradient passes through that.",
                op="ResourceStridedSliceAssign",
                file="vae.py",
                line=88,
                code="recon[:, t].assign(y)",
                phase="forward",
                fix="Collect the steps in a list and tf.stack them.",
                certainty="likely",
                variables=tuple(names[:3]),
                step=0,
                group="adam",
            )
        ],
    )
    run.add(windows_of(0, states, walk(steps, 7, 2)))
    return run


def healthy(log_dir: Path, steps: int = 400) -> RunWriter:
    names = [f"block{b}/{part}" for b in range(6) for part in ("attention/kernel", "attention/bias", "mlp/kernel")]
    run = RunWriter(log_dir, [schema_of(names)])
    states = np.full((steps, len(names)), OK)
    run.add(windows_of(0, states, 10.0 ** np.random.default_rng(3).normal(-1, 0.1, states.shape)))
    return run


def gan(log_dir: Path, steps: int = 150) -> RunWriter:
    """Two optimizers; the generator's last layer gets exact zeros."""
    groups = {"generator": 4, "discriminator": 3}
    run = RunWriter(
        log_dir,
        [schema_of([f"{g}/dense{i}/kernel" for i in range(n)], group=g) for g, n in groups.items()],
    )
    for seed, (group, n) in enumerate(groups.items()):
        states = np.full((steps, n), OK)
        if group == "generator":
            states[60:, 3] = ZERO
        run.add(windows_of(0, states, walk(steps, n, seed)), group)
    return run


def large_gan(log_dir: Path, steps: int = 400) -> RunWriter:
    """Two optimizers with many variables each; a variable of the generator is NaN at step 100 and at the last."""
    names = {group: [f"{group}/block{i // 4}/w{i % 4}" for i in range(160)] for group in ("generator", "discriminator")}
    run = RunWriter(log_dir, [schema_of(own, group=group) for group, own in names.items()])
    for seed, (group, own) in enumerate(names.items()):
        states = np.full((steps, len(own)), OK)
        if group == "generator":
            states[[100, steps - 1], 77] = NAN
        run.add(windows_of(0, states, walk(steps, len(own), seed)), group)
    return run


def replicas(log_dir: Path, steps: int = 120) -> RunWriter:
    """Two replicas; the second one's bias is NaN at step 70."""
    run = RunWriter(log_dir, [schema_of(["dense/kernel", "dense/bias"], replicas=2, norm_of="replica gradient")])
    states = np.full((steps, 4), OK)
    states[70, 3] = NAN
    run.add(windows_of(0, states, walk(steps, 4, 5)))
    return run


HOSTILE = (
    '<img src=x onerror="window.parent.pwned=1">/kernel',
    "\"quoted\" & 'single'/bias",
    "слой/ядро λ 層/kernel",
    "twin/kernel",
    "twin/kernel",
    "deep/" + "very_long_name_" * 20 + "/kernel",
    "v|odd|7",
    "..%2F..%2Fetc/passwd",
)


def hostile(log_dir: Path, steps: int = 60) -> RunWriter:
    """Names, source lines and messages that try to be more than text."""
    states = np.full((steps, len(HOSTILE)), OK)
    states[20:, 0] = NONE
    states[30, 4] = NAN
    script = "</code><script>window.parent.pwned=1</script>"
    causes = [
        Cause(
            kind="none",
            reason_id="odd",
            reason=f"<b>bold</b> {script}",
            op="<Op>",
            file="<script>.py",
            line=7,
            code=script,
            fix="javascript:window.parent.pwned=1",
            variables=(HOSTILE[0],),
            evidence=(script,),
            step=20,
            group="adam",
        )
    ]
    run = RunWriter(log_dir, [schema_of(HOSTILE, optimizer="<i>Adam</i>")], causes)
    run.add(windows_of(0, states, walk(steps, len(HOSTILE), 6)))
    return run


def one(log_dir: Path, steps: int = 5) -> RunWriter:
    run = RunWriter(log_dir, [schema_of([{"name": "w", "shape": [], "size": 1, "layer": ""}])])
    run.add(windows_of(0, np.full((steps, 1), OK), walk(steps, 1, 7)))
    return run


def begun(log_dir: Path) -> RunWriter:
    """The schema is written, no step yet."""
    return RunWriter(log_dir, [schema_of(["dense/kernel", "dense/bias"])])


def raised(log_dir: Path) -> RunWriter:
    """The first step's gradients could not be computed: nothing but the cause was written."""
    cause = Cause(
        kind="error",
        reason_id="no_gradient_registered",
        reason="No gradient is registered for the operation EuclideanNorm",
        op="EuclideanNorm",
        file="/home/ada/train.py",
        line=17,
        code="loss = tf.raw_ops.EuclideanNorm(input=y, axis=[0])",
        phase="backward",
        fix="Write it as tf.sqrt(tf.reduce_sum(tf.square(y))).",
        certainty="certain",
        variables=("dense/kernel",),
        evidence=("LookupError: gradient registry has no entry for: EuclideanNorm",),
        step=0,
    )
    return RunWriter(log_dir, [], [cause])


def many(log_dir: Path, variables: int = 400, steps: int = 1500) -> RunWriter:
    """Many layers; a single NaN, and a layer that is None throughout."""
    names = [f"transformer/block{i // 4}/{('q', 'k', 'v', 'out')[i % 4]}/kernel" for i in range(variables)]
    layers = [{"name": n, "layer": n.rsplit("/", 2)[0]} for n in names]
    run = RunWriter(log_dir, [schema_of(layers)])
    states = np.full((steps, variables), OK)
    states[777, 201] = NAN
    states[:, 40:44] = NONE
    norms = walk(steps, variables, 8)
    for first in range(0, steps, 500):
        run.add(windows_of(first, states[first : first + 500], norms[first : first + 500]))
    return run


def plain(log_dir: Path) -> None:
    """A run of ordinary scalars, without our data."""
    from tensorboard.compat.proto import event_pb2, summary_pb2

    log_dir.mkdir(parents=True, exist_ok=True)
    with open(log_dir / "events.out.tfevents.1700000000.test.1.0", "wb") as file:
        writer = RecordWriter(file)
        writer.write(event_pb2.Event(wall_time=START, file_version="brain.Event:2").SerializeToString())
        for step in range(5):
            summary = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag="loss", simple_value=1.0 / (1 + step))])
            writer.write(event_pb2.Event(wall_time=START + step, step=step, summary=summary).SerializeToString())


def newer(log_dir: Path) -> RunWriter:
    """Written by a version that is yet to come."""
    return RunWriter(log_dir, [schema_of(["dense/kernel"], format_version=99)])


def damaged(log_dir: Path, steps: int = 40) -> RunWriter:
    """The file's end is missing, and a norm before it is wrong."""
    run = one(log_dir, steps)
    content = bytearray(run.path.read_bytes())
    content[content.index(b"seal", int(len(content) * 0.7)) - 12] ^= 0x40  # the fast loader checks no sums itself
    run.path.write_bytes(content[: int(len(content) * 0.9)])
    return run


def write_all(root: Path) -> None:
    """Every run that most tests look at, in one log directory."""
    for name, make in (
        ("seq2seq", seq2seq),
        ("seq2seq_mended", lambda d: seq2seq(d, ill=False)),
        ("vae", vae),
        ("healthy", healthy),
        ("gan", gan),
        ("replicas", replicas),
        ("hostile", hostile),
        ("one", one),
        ("begun", begun),
        ("newer", newer),
        ("damaged", damaged),
        ("many", many),
        ("raised", raised),
        ("large_gan", large_gan),
    ):
        make(root / name).close()
    plain(root / "plain")
