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
from tb_gradhealth.record.statistics import Measured, astuple
from tb_gradhealth.record.step import Handling, Written, write_detailed, write_step


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
        return write_step(self._rings[replica], gradients, self.variables, facts, how, keeper)

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
        finite, *more = run(list(gradients), dict(zip(names, values, strict=True)))
        detail = None
        if detailed:
            seq, *columns = more
            detail = Detail(self._rings[replica], seq, tf.constant(True), self.variables, how.updates)
            detail.hold(detail.begin(Measured(*columns)))
        return Written(finite, detail)

    def _eager_function(self, key: tuple[int, Handling, bool], keeper: StepKeeper | None) -> Any:
        replica, how, detailed = key

        def run(gradients: list[Any], known: dict[str, Any]) -> list[Any]:
            ring, facts = self._rings[replica], StepFacts(**known)
            if detailed:
                finite, seq, measured = write_detailed(ring, gradients, facts, how, keeper)
                return [finite, seq, *astuple(measured)]
            return [write_step(ring, gradients, self.variables, facts, how, keeper).finite]

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
