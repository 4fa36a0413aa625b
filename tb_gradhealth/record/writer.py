"""`GradHealthWriter`: recording by hand, in a custom training loop."""

from collections.abc import Collection, Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.health import Thresholds
from tb_gradhealth.record import open_recorders
from tb_gradhealth.record.alarms.dispatch import OnIncident
from tb_gradhealth.record.applied import checked_detail
from tb_gradhealth.record.explainer import Explainer
from tb_gradhealth.record.pairs import checked_pairs, checked_step
from tb_gradhealth.record.places import check_strategy, replica_count
from tb_gradhealth.record.recorder import Recorder
from tb_gradhealth.record.ring import StepFacts
from tb_gradhealth.record.schema import GroupFacts
from tb_gradhealth.record.step import Handling
from tb_gradhealth.record.tracing import in_v1_graph, never_converted


class GradHealthWriter:
    """Records gradients of a custom training loop.

    ```python
    with tb_gradhealth.GradHealthWriter("logs/run1") as writer:
        for step, batch in enumerate(batches):
            with tf.GradientTape() as tape:
                loss = compute_loss(batch)
            gradients = tape.gradient(loss, variables)
            writer.record(gradients, variables, step=step, loss=loss)
            optimizer.apply_gradients(zip(gradients, variables))
    ```

    Args:
      log_dir: the directory given to `tensorboard --logdir`, or one below it.
      every: ``"auto"`` (default; stored windows widen as the run goes on), or their width in steps.
      thresholds: limits of the health rules.
      on_incident: called with each new `Incident`, within a second or ten steps of the event: a function, an alarm
        of `tb_gradhealth.alarms`, or a list of them.
      ignore: names of variables or layers that are expected to get no gradient.
      detail: steps from one whose largest |g|, share of zeros and weight norm are computed to the next; 0 for never.
      explain: find out why gradients are None or zero.

    Raises:
      TypeError, ValueError: an argument is not what it should be.
    """

    def __init__(
        self,
        log_dir: Any,
        *,
        every: int | str = "auto",
        thresholds: Thresholds | None = None,
        on_incident: OnIncident = None,
        ignore: Collection[str] = (),
        detail: int = 100,
        explain: bool = True,
    ) -> None:
        self._recorder = Recorder(log_dir, every=every, thresholds=thresholds, on_incident=on_incident, ignore=ignore)
        self._explainer = Explainer(self._recorder) if explain else None
        self._how = Handling(detail=checked_detail(detail))
        open_recorders.add(self._recorder)

    @never_converted
    def record(
        self,
        gradients: Sequence[Any],
        variables: Sequence[Any],
        step: Any = None,
        loss: Any = None,
        group: str = "gradients",
    ) -> None:
        """Records one step. Call it before the gradients are clipped or applied.

        Works eagerly, inside a `tf.function` and inside ``jit_compile=True``. In eager mode nothing is copied to the
        host here.

        Args:
          gradients: as `tape.gradient` returns them: tensors, `tf.IndexedSlices` or None.
          variables: the variables they belong to, in the same order.
          step: whole number or integer tensor; default: 0, 1, 2, … A step at or before the last one begins the record
            anew from there, as after a restored checkpoint.
          loss: number or tensor; a tensor that is not a scalar is averaged. Default: what the tape differentiated, if
            that is known (with `explain`).
          group: name of this list of gradients, where a program has several (a GAN's two).

        Raises:
          RuntimeError: the writer is closed, or a TensorFlow 1 graph is being built.
          ValueError: no variables, or another number of gradients than of variables.
          TypeError: an entry is none of the kinds above.
        """
        if self._recorder.closed:
            raise RuntimeError(
                "This GradHealthWriter is closed: `record` was called after `close()` or after its `with` block. "
                "Keep it open until the training ends, or make a new one."
            )
        if in_v1_graph():
            raise RuntimeError(
                "`GradHealthWriter.record` cannot be part of a TensorFlow 1 graph. "
                "Use `tb_gradhealth.v1.GradHealthHook(log_dir, grads_and_vars)` there."
            )
        check_strategy("GradHealthWriter.record")
        gradients, variables = checked_pairs(gradients, variables)
        if loss is None and self._explainer is not None:
            loss = self._explainer.loss_of(gradients)
        facts = StepFacts(step=checked_step(step), loss=loss)
        owner = self._recorder.group(group, GroupFacts("record", every=self._recorder.every, replicas=replica_count()))
        channel = self._recorder.channel(owner, variables)
        written = self._recorder.record(owner, channel, gradients, facts, self._how)
        self._recorder.eager_step_done(owner)
        if not tf.executing_eagerly():
            self._recorder.attend_by_poller()
        if self._explainer is not None:
            self._explainer.look(owner, gradients, variables, loss, step, written.finite)

    def flush(self) -> None:
        """Puts everything recorded so far on disk."""
        self._recorder.flush()

    def close(self) -> None:
        """Flushes and closes the log. A second call does nothing."""
        if self._explainer is not None:
            self._explainer.close()
        self._recorder.close()
        open_recorders.discard(self._recorder)

    def __enter__(self) -> "GradHealthWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
