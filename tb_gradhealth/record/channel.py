"""One list of variables on its way from the step to the host: a ring on each replica, and reading them together."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tb_gradhealth.format.windows import Array, Windows
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
        self._fetched: list[_Fetched] = []
        self._last_seq = 0
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

    # On the host ----------------------------------------------------------------------------------------------------

    def fetch(self) -> tuple[int, bool]:
        """Takes from the device what was recorded since the last call. Cheap: nothing is worked out.

        Returns:
          How many steps that were, and whether to work them in at once: a NaN or an Inf is among them, or the ring had
          no room for all.
        """
        snapshots = [ring.read() for ring in self._rings]
        last = max(snapshot.last_seq for snapshot in snapshots)
        if last == 0:
            return 0, False
        self._fetched.append(_Fetched(time.time(), last, snapshots))
        steps, self._last_seq = last - self._last_seq, last
        urgent = any(s.summary is not None or s.rows.nans.any() or s.rows.infs.any() for s in snapshots)
        return steps, urgent

    def read(self, place: history.Place) -> list[Windows]:
        """The steps recorded since the last call, as windows in the order of recording."""
        self.fetch()
        fetched, self._fetched = self._fetched, []
        runs: list[list[_Fetched]] = []
        for part in fetched:
            if not runs or any(snapshot.summary is not None for snapshot in part.snapshots):
                runs.append([])
            runs[-1].append(part)
        return [windows for run in runs for windows in self._windows(run, place)]

    def _windows(self, run: Sequence["_Fetched"], place: history.Place) -> list[Windows]:
        """What was fetched in a row; only the first part may have steps that were summed up."""
        parts = []
        summaries = [snapshot.summary for snapshot in run[0].snapshots if snapshot.summary is not None]
        if len(summaries) == len(self._rings):
            parts.append(history.summed_up(summaries, place))
            parts[0].wall_time[:] = run[0].time
        steps = self._aligned(run)
        if len(steps[0]):
            windows = history.single_steps(steps, place, self._clipping)
            at = np.searchsorted([part.last_seq for part in run], steps[0].seq)
            windows.wall_time[:] = np.array([part.time for part in run])[np.minimum(at, len(run) - 1)]
            for part in run:
                for replica, (rows, snapshot) in enumerate(zip(steps, part.snapshots, strict=True)):
                    history.add_details(windows, rows, snapshot.detail, place, replica)
            parts.append(windows)
        return parts

    def _aligned(self, run: Sequence["_Fetched"]) -> list[layout.Rows]:
        """The steps that every replica has recorded; the others wait for the next call."""
        for part in run:
            for waiting, snapshot in zip(self._waiting, part.snapshots, strict=True):
                waiting.append(snapshot.rows)
        found = [layout.joined(waiting) for waiting in self._waiting]
        common = found[0].seq
        for rows in found[1:]:
            common = np.intersect1d(common, rows.seq)
        last = common[-1] if len(common) else -1
        self._waiting = [[rows.select(rows.seq > last)] for rows in found]
        return [rows.select(np.isin(rows.seq, common)) for rows in found]

    def bad_steps(self, expected_none: Array) -> int:
        """Of the steps fetched and not yet read, those at which a gradient was NaN, Inf or missing.

        Args:
          expected_none: bool ``[variables]``: where a missing one is none.
        """
        ill = [history.ill_steps(s.rows, expected_none) for part in self._fetched for s in part.snapshots]
        return len(np.unique(np.concatenate(ill))) if ill else 0

    def last_global_norm(self) -> float | None:
        """The global norm of the last step fetched and not yet read; None if there is none."""
        last = [s.rows.select(slice(-1, None)) for s in self._fetched[-1].snapshots] if self._fetched else []
        norms = [float(history.global_norms(rows)[0]) for rows in last if len(rows)]
        return max(norms) if norms else None


@dataclasses.dataclass(frozen=True)
class _Fetched:
    """What the rings held at one time: seconds since the epoch, the last sequence number, one snapshot a replica."""

    time: float
    last_seq: int
    snapshots: Sequence[Snapshot]


def _tensor(name: str, value: Any) -> Any:
    if name == "step":
        return tf.cast(value, tf.int64)
    return tf.convert_to_tensor(value)
