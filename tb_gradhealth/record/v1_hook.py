"""`GradHealthHook`: recording in a TensorFlow 1 graph, by a session hook or by hand."""

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import tensorflow as tf

from tb_gradhealth.health import Thresholds
from tb_gradhealth.record import open_recorders
from tb_gradhealth.record.alarms.dispatch import OnIncident, checked_alarms
from tb_gradhealth.record.alarms.save_weights import SaveWeights
from tb_gradhealth.record.explainer import Explainer
from tb_gradhealth.record.nonfinite_causes import SessionExplainer
from tb_gradhealth.record.pairs import checked_pairs
from tb_gradhealth.record.recorder import Recorder
from tb_gradhealth.record.ring import StepFacts, block_of, pack_row
from tb_gradhealth.record.schema import GroupFacts
from tb_gradhealth.record.session_rows import SessionRows
from tb_gradhealth.record.statistics import measure

GROUP = "gradients"


class GradHealthHook(tf.compat.v1.train.SessionRunHook):  # type: ignore[misc]
    """Records gradients of a graph that sessions run.

    With a monitored session:

    ```python
    grads_and_vars = optimizer.compute_gradients(loss)
    train_op = optimizer.apply_gradients(grads_and_vars)
    hook = tb_gradhealth.v1.GradHealthHook("logs/run1", grads_and_vars, loss=loss)
    with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as session:
        while not session.should_stop():
            session.run(train_op)
    ```

    With a bare session: ``_, rows = session.run([train_op, hook.rows]); hook.record(rows)``.

    Args:
      log_dir: the directory given to `tensorboard --logdir`, or one below it.
      grads_and_vars: pairs as `compute_gradients` returns them; a gradient may be None. Give them as they are before
        clipping.
      loss: scalar tensor of the same graph.
      step: integer scalar tensor, e.g. the global step; default: session runs are counted from 0.
      every, thresholds, on_incident, ignore, explain: see `GradHealthCallback`.

    Attributes:
      rows: float32 tensor to fetch in each training step and to give to `record`.

    Raises:
      TypeError, ValueError: an argument is not what it should be.
    """

    def __init__(
        self,
        log_dir: Any,
        grads_and_vars: Iterable[tuple[Any, Any]],
        loss: Any = None,
        step: Any = None,
        *,
        every: int | str = "auto",
        thresholds: Thresholds | None = None,
        on_incident: OnIncident = None,
        ignore: Collection[str] = (),
        explain: bool = True,
    ) -> None:
        pairs = list(grads_and_vars)
        gradients, variables = checked_pairs([g for g, _ in pairs], [v for _, v in pairs])
        if any(isinstance(alarm, SaveWeights) for alarm in checked_alarms(on_incident)):
            raise TypeError(
                "`SaveWeights` cannot read the variables of a TensorFlow 1 graph. Received: on_incident with one. "
                "Use tf.compat.v1.train.CheckpointSaverHook beside this hook."
            )
        self._recorder = Recorder(log_dir, every=every, thresholds=thresholds, on_incident=on_incident, ignore=ignore)
        self._session_rows = SessionRows(variables, numbered=step is not None)
        self._steps = 0
        with _graph_of([*gradients, *variables]).as_default():
            facts = StepFacts(loss=loss)
            measured = measure(gradients)
            self.rows = pack_row(block_of(measured), facts, 1, 0 if step is None else step)
        self._group = self._recorder.group(GROUP, GroupFacts("v1", every=self._recorder.every))
        self._nonfinite: SessionExplainer | None = None
        self._explainer: Explainer | None = None
        if explain:
            self._nonfinite = SessionExplainer(self._recorder, self._group, gradients, variables, loss)
            with self.rows.graph.as_default():
                self.rows = self._nonfinite.attach(self.rows, measured.finite())
        self._recorder.add_channel(self._group, variables, self._session_rows)
        open_recorders.add(self._recorder)
        if explain:
            self._explainer = Explainer(self._recorder)
            with self.rows.graph.as_default():
                self._explainer.look(self._group, gradients, variables, loss)

    def record(self, rows: Any) -> None:
        """Takes in what fetching `rows` gave.

        Raises:
          RuntimeError: the hook is closed.
          ValueError: it is not what fetching `rows` gives.
        """
        if self._recorder.closed:
            raise RuntimeError(
                "This GradHealthHook is closed: `record` was called after `close()` or after the session ended. "
                "Make a new hook for a new training."
            )
        row = np.asarray(rows, np.float32)
        if row.shape != (self._session_rows.width,):
            raise ValueError(
                f"`record` takes the value of `hook.rows`, an array of shape ({self._session_rows.width},). Received: "
                f"an array of shape {row.shape}. Write: _, rows = session.run([train_op, hook.rows]); hook.record(rows)"
            )
        self._session_rows.add(row)
        self._recorder.tick(1)
        if self._nonfinite is not None:
            self._nonfinite.look(self._steps)
        self._steps += 1

    def before_run(self, run_context: Any) -> Any:
        return tf.compat.v1.train.SessionRunArgs(self.rows)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.record(run_values.results)
        if self._recorder.training.stop_asked:
            run_context.request_stop()

    def end(self, session: Any) -> None:
        self.close()

    def flush(self) -> None:
        """Puts everything recorded so far on disk."""
        self._recorder.flush()

    def close(self) -> None:
        """Flushes and closes the log. A second call does nothing."""
        if self._explainer is not None:
            self._explainer.close()
        self._recorder.close()
        open_recorders.discard(self._recorder)

    def __enter__(self) -> "GradHealthHook":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _graph_of(things: list[Any]) -> Any:
    for thing in things:
        graph = getattr(thing, "graph", None)
        if isinstance(graph, tf.Graph):
            return graph
    raise ValueError(
        "`grads_and_vars` are not of a TensorFlow 1 graph. Received: eager tensors. "
        "Use `tb_gradhealth.GradHealthWriter` or `tb_gradhealth.GradHealthCallback` in TensorFlow 2."
    )
