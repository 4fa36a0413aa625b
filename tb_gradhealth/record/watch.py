"""`watch`: recording whatever an optimizer is given, in one line."""

from collections.abc import Collection
from typing import Any, TypeVar

from tb_gradhealth.health import Thresholds
from tb_gradhealth.record import open_recorders
from tb_gradhealth.record.alarms.dispatch import OnIncident
from tb_gradhealth.record.applied import AppliedGradients, Options, checked_detail
from tb_gradhealth.record.clipping import Clipping
from tb_gradhealth.record.explainer import Explainer
from tb_gradhealth.record.optimizer_facts import group_name, is_optimizer, is_v1
from tb_gradhealth.record.places import check_strategy, check_withholding, replica_count
from tb_gradhealth.record.recorder import Recorder
from tb_gradhealth.record.schema import GroupFacts
from tb_gradhealth.record.withholding import RECORD, checked_policy

_Optimizer = TypeVar("_Optimizer")

_watched: "dict[int, _Watch]" = {}


def watch(
    optimizer: _Optimizer,
    log_dir: Any,
    *,
    every: int | str = "auto",
    on_nonfinite: str = RECORD,
    on_incident: OnIncident = None,
    ignore: Collection[str] = (),
    thresholds: Thresholds | None = None,
    detail: int = 100,
    explain: bool = True,
) -> _Optimizer:
    """Records the gradients of every `apply` and `apply_gradients` of an optimizer, until the program ends.

    ```python
    optimizer = tb_gradhealth.watch(keras.optimizers.Adam(), "logs/run1")
    ```

    Args:
      optimizer: of Keras 3 or tf_keras. The same object is returned; watching it again ends the former watch.
      log_dir: the directory given to `tensorboard --logdir`, or one below it.
      on_nonfinite: as in `GradHealthCallback`; ``"stop"`` withholds the bad update and every later one.
      every, on_incident, ignore, thresholds, detail, explain: see `GradHealthCallback`.

    Returns:
      The optimizer.

    Raises:
      TypeError, ValueError: an argument is not what it should be.
    """
    if is_v1(optimizer):
        raise TypeError(
            f"`watch` takes an optimizer of Keras. Received: {type(optimizer).__name__} of TensorFlow 1. "
            "Use `tb_gradhealth.v1.GradHealthHook(log_dir, grads_and_vars)`."
        )
    if not is_optimizer(optimizer):
        raise TypeError(
            f"`watch` takes an optimizer. Received: {optimizer!r} (of type {type(optimizer).__name__}). "
            "Write it like watch(keras.optimizers.Adam(), 'logs/run1')."
        )
    options = Options(checked_policy(on_nonfinite), checked_detail(detail))
    unwatch(optimizer)
    check_strategy("watch")
    check_withholding(on_nonfinite)
    recorder = Recorder(
        log_dir, every=every, thresholds=thresholds, on_incident=on_incident, ignore=ignore, on_nonfinite=on_nonfinite
    )
    _watched[id(optimizer)] = _Watch(optimizer, recorder, options, explain)
    return optimizer


def unwatch(optimizer: Any) -> None:
    """Ends the watch of an optimizer and closes its log. Does nothing if there is none."""
    found = _watched.pop(id(optimizer), None)
    if found is not None:
        found.end()


class _Watch:
    def __init__(self, optimizer: Any, recorder: Recorder, options: Options, explain: bool) -> None:
        self._recorder = recorder
        self._explainer = Explainer(recorder) if explain else None
        facts = GroupFacts(
            "watch",
            optimizer=type(getattr(optimizer, "inner_optimizer", optimizer)).__name__,
            every=recorder.every,
            clipping=Clipping.of(optimizer),
            replicas=replica_count(),
        )
        group = recorder.group(group_name(optimizer), facts)
        self._applied = AppliedGradients(optimizer, recorder, group, options)
        self._applied.hook(self._explainer)
        self._applied.on_traced = recorder.attend_by_poller
        open_recorders.add(recorder)

    def end(self) -> None:
        self._applied.remove()
        if self._explainer is not None:
            self._explainer.close()
        self._recorder.close()
        open_recorders.discard(self._recorder)
