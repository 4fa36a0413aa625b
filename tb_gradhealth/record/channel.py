"""One list of variables on its way from the step to the host: a ring on each replica, and reading them together."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tb_gradhealth.format.windows import Windows
from tb_gradhealth.record import history, layout
from tb_gradhealth.record.clipping import Clipping
from tb_gradhealth.record.detail import Detail
from tb_gradhealth.record.evidence import StepKeeper
from tb_gradhealth.record.ring import Ring, Snapshot, StepFacts
from tb_gradhealth.record.statistics import Measured, measure, unscaled


@dataclasses.dataclass(frozen=True)
class Handling:
    """What will be done with a step's gradients; known while tracing.

    Attributes:
      scaled: they carry the loss scale.
      scaler_skips: a loss scaler withholds the update where they are not finite.
      withhold: we withhold it there.
      detail: steps from one with detailed numbers to the next; 0 for none.
      updates: the update follows, and the caller tells when it is done (`Written.detail`).
    """

    scaled: bool = False
    scaler_skips: bool = False
    withhold: bool = False
    detail: int = 0
    updates: bool = False


PLAIN = Handling()


@dataclasses.dataclass(frozen=True)
class Written:
    """What recording a step gave.

    Attributes:
      measured: the step's gradients, measured; None where that failed (a warning has said so).
      detail: to be finished after the update, if the step is a detailed one; else None.
    """

    measured: Measured | None
    detail: Detail | None


NOT_WRITTEN = Written(None, None)


class Channel:
    """Records steps of one list of variables.

    Args:
      variables: in the order of the gradients.
      counters: one step counter for each replica, shared by the channels of a group.
      devices: one for each replica; None where TensorFlow decides.
      capacity: steps a ring holds.
      clipping: the optimizer's thresholds.
    """

    def __init__(
        self,
        variables: Sequence[Any],
        counters: Sequence[Any],
        devices: Sequence[str | None],
        capacity: int,
        clipping: Clipping,
    ) -> None:
        self.variables = list(variables)
        self.capacity = capacity
        self._clipping = clipping
        self._rings = [
            Ring(len(self.variables), capacity, device, clipping, counter)
            for device, counter in zip(devices, counters, strict=True)
        ]
        self._waiting: list[list[layout.Rows]] = [[] for _ in self._rings]
        self._eager_counts = [0] * len(self._rings)
        self._eager_functions: dict[tuple[int, Handling, bool], Any] = {}
        self.empty = [tf.TensorShape(v.shape).num_elements() == 0 for v in self.variables]

    def write(
        self,
        gradients: Sequence[Any],
        facts: StepFacts,
        how: Handling,
        replica: int = 0,
        keeper: StepKeeper | None = None,
    ) -> Written:
        """Measures and records one step, in a graph."""
        ring = self._rings[replica]
        due = ring.detail_due(how.detail) if how.detail else False
        measured, seq = self._write(ring, gradients, facts, how, due)
        if keeper is not None and not how.scaler_skips:
            keeper.keep(measured.finite(), seq)
        detail = None
        if how.detail:
            detail = Detail(ring, seq, due)
            detail.begin(measured, self.variables, how.updates)
        return Written(measured, detail)

    def _write(
        self, ring: Ring, gradients: Sequence[Any], facts: StepFacts, how: Handling, thorough: Any
    ) -> tuple[Measured, Any]:
        measured = measure(gradients, thorough)
        if how.scaled and facts.loss_scale is not None:
            measured = unscaled(measured, facts.loss_scale)
        if how.scaler_skips or how.withhold:
            bad = tf.logical_not(measured.finite())
            facts = dataclasses.replace(facts, **{"handled" if how.scaler_skips else "skipped": bad})
        return measured, ring.write(measured, facts)

    def write_eagerly(
        self,
        gradients: Sequence[Any],
        facts: StepFacts,
        how: Handling,
        replica: int,
        new_keeper: Callable[[], StepKeeper | None],
    ) -> Written:
        """Measures and records one step, in eager mode: one call into a function made once per kind of gradients."""
        count = self._eager_counts[replica]
        self._eager_counts[replica] += 1
        detailed = how.detail > 0 and count % how.detail == 0
        key = (replica, dataclasses.replace(how, detail=0), detailed)
        run = self._eager_functions.get(key)
        if run is None:
            run = self._eager_functions[key] = self._eager_function(key, None if detailed else new_keeper())
        names = [name for name in facts.__dataclass_fields__ if getattr(facts, name) is not None]
        values = [_tensor(name, getattr(facts, name)) for name in names]
        *parts, seq = run(list(gradients), dict(zip(names, values, strict=True)))
        measured = Measured(*parts)
        detail = None
        if detailed:
            detail = Detail(self._rings[replica], seq, tf.constant(True))
            detail.begin(measured, self.variables, how.updates)
        return Written(measured, detail)

    def _eager_function(self, key: tuple[int, Handling, bool], keeper: StepKeeper | None) -> Any:
        replica, how, detailed = key

        def run(gradients: list[Any], facts: dict[str, Any]) -> list[Any]:
            ring = self._rings[replica]
            measured, seq = self._write(ring, gradients, StepFacts(**facts), how, detailed)
            if keeper is not None and not how.scaler_skips:
                keeper.keep(measured.finite(), seq)
            return [measured.norm, measured.nans, measured.infs, measured.largest, measured.zero_share, seq]

        return tf.function(run, reduce_retracing=True, autograph=False)

    def read(self, place: history.Place) -> list[Windows]:
        """The steps recorded since the last call, as windows in the order of recording."""
        snapshots = [ring.read() for ring in self._rings]
        parts = []
        summaries = [snapshot.summary for snapshot in snapshots if snapshot.summary is not None]
        if len(summaries) == len(self._rings):
            parts.append(history.summed_up(summaries, place))
        steps = self._aligned(snapshots)
        if len(steps[0]):
            windows = history.single_steps(steps, place, self._clipping)
            for replica, (rows, snapshot) in enumerate(zip(steps, snapshots, strict=True)):
                history.add_details(windows, rows, snapshot.detail, place, replica)
            parts.append(windows)
        return parts

    def _aligned(self, snapshots: Sequence[Snapshot]) -> list[layout.Rows]:
        """The steps that every replica has recorded; the others wait for the next call."""
        for waiting, snapshot in zip(self._waiting, snapshots, strict=True):
            waiting.append(snapshot.rows)
        found = [layout.joined(waiting) for waiting in self._waiting]
        common = found[0].seq
        for rows in found[1:]:
            common = np.intersect1d(common, rows.seq)
        last = common[-1] if len(common) else -1
        self._waiting = [[rows.select(rows.seq > last)] for rows in found]
        return [rows.select(np.isin(rows.seq, common)) for rows in found]


def _tensor(name: str, value: Any) -> Any:
    if name == "step":
        return tf.cast(value, tf.int64)
    return tf.convert_to_tensor(value)
