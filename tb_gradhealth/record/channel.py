"""One list of variables on its way from the step to the host: a ring on each replica, and reading them together."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tb_gradhealth.format.windows import Windows
from tb_gradhealth.record import history, layout
from tb_gradhealth.record.clipping import Clipping
from tb_gradhealth.record.evidence import StepKeeper
from tb_gradhealth.record.ring import Ring, Snapshot, StepFacts
from tb_gradhealth.record.statistics import Measured, measure, unscaled
from tb_gradhealth.record.tracing import never_converted


@dataclasses.dataclass(frozen=True)
class Handling:
    """What will be done with a step's gradients; known while tracing.

    Attributes:
      scaled: they carry the loss scale.
      scaler_skips: a loss scaler withholds the update where they are not finite.
      withhold: we withhold it there.
    """

    scaled: bool = False
    scaler_skips: bool = False
    withhold: bool = False


PLAIN = Handling()


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
        self._eager_functions: dict[tuple[int, Handling], Any] = {}
        self.empty = [tf.TensorShape(v.shape).num_elements() == 0 for v in self.variables]

    def write(
        self,
        gradients: Sequence[Any],
        facts: StepFacts,
        how: Handling,
        replica: int = 0,
        keeper: StepKeeper | None = None,
    ) -> Measured:
        """Measures and records one step, in a graph."""
        measured = measure(gradients)
        if how.scaled and facts.loss_scale is not None:
            measured = unscaled(measured, facts.loss_scale)
        if how.scaler_skips or how.withhold:
            bad = tf.logical_not(measured.finite())
            facts = dataclasses.replace(facts, **{"handled" if how.scaler_skips else "skipped": bad})
        seq = self._rings[replica].write(measured, facts)
        if keeper is not None and not how.scaler_skips:
            keeper.keep(measured.finite(), seq)
        return measured

    def write_eagerly(
        self,
        gradients: Sequence[Any],
        facts: StepFacts,
        how: Handling,
        replica: int,
        new_keeper: Callable[[], StepKeeper | None],
    ) -> Measured:
        """Measures and records one step, in eager mode: one call into a function made once per kind of gradients."""
        names = [name for name in facts.__dataclass_fields__ if getattr(facts, name) is not None]
        values = [_tensor(name, getattr(facts, name)) for name in names]
        run = self._eager_functions.get((replica, how))
        if run is None:
            run = self._eager_functions[replica, how] = self._eager_function(how, replica, new_keeper())
        return Measured(*run(list(gradients), dict(zip(names, values, strict=True))))

    def _eager_function(self, how: Handling, replica: int, keeper: StepKeeper | None) -> Any:
        @never_converted
        def run(gradients: list[Any], facts: dict[str, Any]) -> tuple[Any, Any, Any]:
            measured = self.write(gradients, StepFacts(**facts), how, replica, keeper)
            return measured.norm, measured.nans, measured.infs

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
            parts.append(history.single_steps(steps, place, self._clipping))
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
