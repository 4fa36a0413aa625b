"""`GradHealthCallback`: recording in `model.fit`, with Keras 3 and with tf_keras.

It is a callback by its methods and derives from neither Keras's class, so that importing it imports no Keras. Its batch
hooks are marked as the defaults they are: Keras then need not fetch each step's logs for it.
"""

import sys
import weakref
from collections.abc import Collection
from typing import Any

from tb_gradhealth.health import Thresholds
from tb_gradhealth.record import open_recorders
from tb_gradhealth.record.alarms.dispatch import OnIncident
from tb_gradhealth.record.applied import Options, checked_detail
from tb_gradhealth.record.explainer import Explainer
from tb_gradhealth.record.keras_session import KerasSession, calling_list, end_with, go_first
from tb_gradhealth.record.places import check_strategy, check_withholding
from tb_gradhealth.record.recorder import Recorder
from tb_gradhealth.record.withholding import RECORD, checked_policy

_sessions: "weakref.WeakSet[KerasSession]" = weakref.WeakSet()
"""The `fit` calls being recorded."""


def _nothing(self: Any, *args: Any, **kwargs: Any) -> None:
    """Nothing to do at this point."""


_nothing._is_default = True  # type: ignore[attr-defined]


class GradHealthCallback:
    """Records the gradients of `model.fit`.

    ```python
    model.fit(x, y, callbacks=[tb_gradhealth.GradHealthCallback("logs/run1")])
    ```

    Args:
      log_dir: the directory given to `tensorboard --logdir`, or one below it.
      every: ``"auto"`` (default; stored windows widen as the run goes on), or their width in steps.
      thresholds: limits of the health rules.
      on_incident: called with each new `Incident`, within a second or ten steps of the event: a function, an alarm
        of `tb_gradhealth.alarms`, or a list of them.
      ignore: names of variables or layers that are expected to get no gradient.
      on_nonfinite: ``"record"`` (default) only records NaN and Inf; ``"skip"`` withholds the updates they would cause;
        ``"stop"`` withholds them and ends the training with the weights of the last good step.
      detail: steps from one whose largest |g|, share of zeros, weight norm and update ratio are computed to the next; 0
        for never.
      explain: find out why gradients are None, zero or not finite.

    Raises:
      TypeError, ValueError: an argument is not what it should be.
    """

    _supports_tf_logs = True
    async_safe = True  # Keras 3 may go on calling the batch hooks from its own thread

    def __init__(
        self,
        log_dir: Any,
        *,
        every: int | str = "auto",
        thresholds: Thresholds | None = None,
        on_incident: OnIncident = None,
        ignore: Collection[str] = (),
        on_nonfinite: str = RECORD,
        detail: int = 100,
        explain: bool = True,
    ) -> None:
        self.model: Any = None
        self.params: dict[str, Any] = {}
        self._explain = explain
        self._options = Options(checked_policy(on_nonfinite), checked_detail(detail))
        self._session: KerasSession | None = None
        self._explainer: Explainer | None = None
        self._training = False
        self._bad_before = 0
        self._known = (-1, 0, float("nan"))  # at which look, bad steps, global norm
        self._made_with = (
            log_dir,
            dict(
                every=every,
                thresholds=thresholds,
                on_incident=on_incident,
                ignore=ignore,
                on_nonfinite=on_nonfinite,
                detail=detail,
                explain=explain,
            ),
        )
        self._recorder = Recorder(
            log_dir,
            every=every,
            thresholds=thresholds,
            on_incident=on_incident,
            ignore=ignore,
            on_nonfinite=on_nonfinite,
        )
        open_recorders.add(self._recorder)

    def set_model(self, model: Any) -> None:
        """Hooks the model. Keras calls this before it makes the train function."""
        self.model = model
        self._end()
        check_backend()
        check_strategy("GradHealthCallback", model.distribute_strategy)
        check_withholding(self._options.on_nonfinite, model.distribute_strategy)
        _end_others(model, self._session)
        if self._session is None or self._session.model is not model:
            if self._session is not None:
                self._recorder.forget_variables()
            self._session = KerasSession(model, self._recorder, self._options)
            _sessions.add(self._session)
        if self._explain:
            self._explainer = Explainer(self._recorder)
        self._session.begin(self._explainer)
        self._recorder.training.model = model
        self._recorder.training.variables = lambda: model.weights
        callback_list = calling_list()
        go_first(callback_list, self)
        end_with(callback_list, self._session)

    def set_params(self, params: dict[str, Any]) -> None:
        self.params = params

    def on_train_begin(self, logs: Any = None) -> None:
        self._training = True
        self._watch_calls()

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._watch_calls()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Adds to the epoch's logs: ``gradhealth_bad``, its steps with a NaN, Inf or missing gradient, and
        ``grad_norm``, the global norm of its last step."""
        self._recorder.look()
        if self._session is not None:
            self._session.stop_if_told()
        bad, norm = self._recorder.bad_steps(), self._recorder.last_global_norm()
        if isinstance(logs, dict):
            logs["gradhealth_bad"] = bad - self._bad_before
            logs["grad_norm"] = norm
        self._bad_before = bad

    def on_train_end(self, logs: Any = None) -> None:
        self._training = False
        self._end()
        self._recorder.flush()

    def on_test_begin(self, logs: Any = None) -> None:
        self._end_if_not_training()

    def on_predict_begin(self, logs: Any = None) -> None:
        self._end_if_not_training()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Adds the same to the batch's logs, as far as is known without waiting for the device.

        ``grad_norm`` is that of the newest step the host has seen: at most a second or the ring's 64 steps old, NaN
        before the first. ``gradhealth_bad`` counts the bad steps of this epoch among those.
        """
        if not isinstance(logs, dict):
            return
        if self._known[0] != self._recorder.looks:
            self._known = (self._recorder.looks, self._recorder.bad_steps(), self._recorder.last_global_norm())
        _, bad, logs["grad_norm"] = self._known
        logs["gradhealth_bad"] = max(bad - self._bad_before, 0)

    on_train_batch_begin = on_batch_begin = on_batch_end = _nothing
    on_test_end = on_test_batch_begin = on_test_batch_end = _nothing
    on_predict_end = on_predict_batch_begin = on_predict_batch_end = _nothing

    def _implements_train_batch_hooks(self) -> bool:
        return False

    _implements_test_batch_hooks = _implements_predict_batch_hooks = _implements_train_batch_hooks

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, as tuners make of their callbacks, is a new callback with the same arguments."""
        return _made, (type(self), *self._made_with)

    def _watch_calls(self) -> None:
        if self._session is not None and not self._session.ended:
            self._session.watch_calls()

    def _end_if_not_training(self) -> None:
        """The callback was given to `evaluate` or `predict`."""
        if not self._training:
            self._end()

    def _end(self) -> None:
        if self._session is not None:
            self._session.end()
        if self._explainer is not None:
            self._explainer.close()
            self._explainer = None


def _made(kind: type, log_dir: Any, options: dict[str, Any]) -> Any:
    return kind(log_dir, **options)


def _end_others(model: Any, own: KerasSession | None) -> None:
    """Ends what an interrupted `fit` of the same model may have left; refuses one that still runs."""
    for session in list(_sessions):
        if session.model is not model or session is own:
            continue
        if session.running:
            raise RuntimeError(
                "This model is being trained and recorded by another thread. One model cannot be recorded twice at a "
                "time: pass a single GradHealthCallback, and train a copy of the model in the second thread."
            )
        session.end()


def check_backend() -> None:
    """Raises if Keras runs on another backend than TensorFlow."""
    keras = sys.modules.get("keras")
    backend = getattr(getattr(keras, "config", None), "backend", None)
    name = backend() if callable(backend) else "tensorflow"
    if name != "tensorflow":
        raise RuntimeError(
            f"GradHealthCallback records models that train with TensorFlow. Received: a Keras backend {name!r}. "
            'Set the environment variable KERAS_BACKEND="tensorflow" before Keras is imported.'
        )
