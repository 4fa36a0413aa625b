"""What happens when an optimizer is given gradients: they are measured, recorded and explained, then it goes on."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.record.explainer import Explainer
from tb_gradhealth.record.group import Group
from tb_gradhealth.record.model_step import ModelStep
from tb_gradhealth.record.optimizer_facts import build, is_scaler, iterations_of, learning_rate_of, loss_scale_of
from tb_gradhealth.record.optimizer_hook import OptimizerHook, Proceed
from tb_gradhealth.record.places import here
from tb_gradhealth.record.recorder import CAPACITY, Recorder
from tb_gradhealth.record.ring import StepFacts
from tb_gradhealth.record.schema import key_of
from tb_gradhealth.record.step import Handling, Written
from tb_gradhealth.record.withholding import RECORD, Withholding


@dataclasses.dataclass(frozen=True)
class Options:
    """How applied gradients are recorded.

    Attributes:
      on_nonfinite: ``"record"``, ``"skip"`` or ``"stop"``, see `withholding`.
      detail: steps from one with detailed numbers to the next; 0 for none.
      capacity: steps a ring holds.
    """

    on_nonfinite: str = RECORD
    detail: int = 100
    capacity: int = CAPACITY


def checked_detail(detail: Any) -> int:
    """The argument `detail`, or a `ValueError` that says what it should be."""
    if isinstance(detail, int) and not isinstance(detail, bool) and detail >= 0:
        return detail
    raise ValueError(
        f"`detail` must be a number of steps, 0 for never. Received: detail={detail!r}. It says at which steps the "
        "numbers that take more than one look at the gradients are computed: detail=100 for every hundredth."
    )


class AppliedGradients:
    """One optimizer and its group; recorded from `hook` to `remove`.

    Args:
      optimizer: of Keras 3 or tf_keras.
      recorder, group: where its steps go.
      options: how.
      model_step: tells the loss of the step being run or traced.
      changed_by_step: variables that a step changes before its update, see `Withholding`.
    """

    def __init__(
        self,
        optimizer: Any,
        recorder: Recorder,
        group: Group,
        options: Options,
        model_step: ModelStep | None = None,
        changed_by_step: Sequence[Any] = (),
    ) -> None:
        self.optimizer = optimizer
        self.group = group
        self._recorder = recorder
        self._options = options
        self._explainer: Explainer | None = None
        self._model_step = model_step
        self._scaler = is_scaler(optimizer)
        withholds = options.on_nonfinite != RECORD and not self._scaler
        self._withholding = Withholding(options.on_nonfinite, changed_by_step) if withholds else None
        self._hook: OptimizerHook | None = None
        self.handed: set[Any] = set()
        """Keys of the variables that the optimizer was given, see `schema.key_of`."""
        self.on_traced: Callable[[], object] = lambda: None

    def hook(self, explainer: Explainer | None = None) -> None:
        """Begins to record.

        Args:
          explainer: is asked about ill gradients; None to ask nobody.
        """
        self._explainer = explainer
        self._recorder.number_from(self.group, max(iterations_of(self.optimizer), self.group.last_step_plus_one()))
        if self._withholding is not None:
            self._withholding.begin()
        self._hook = OptimizerHook(self.optimizer, self._on_apply)

    def remove(self) -> None:
        """The optimizer is as it was before."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None

    def stopped(self) -> bool:
        """Whether updates are withheld for good. Host only."""
        return self._withholding is not None and self._withholding.stopped()

    def _on_apply(self, gradients: Sequence[Any], variables: Sequence[Any], proceed: Proceed) -> Any:
        if self._recorder.closed:
            return proceed()
        loss = None if self._model_step is None else self._model_step.loss()
        if loss is None and self._explainer is not None and not self._scaler:
            loss = self._explainer.loss_of(gradients)
        written = self._record(gradients, variables, loss)
        if self._explainer is not None:
            self._explainer.look(self.group, gradients, variables, loss, finite=written.finite)
        if not tf.executing_eagerly():
            self.on_traced()
        try:
            result = self._go_on(written, gradients, variables, proceed)
        except BaseException:
            if all(gradient is None for gradient in gradients):  # "No gradients provided for any variable"
                self._keep_mask(variables)
            raise
        if written.detail is not None:
            written.detail.finish()
        self._recorder.eager_step_done(self.group)
        return result

    def _go_on(self, written: Written, gradients: Sequence[Any], variables: Sequence[Any], proceed: Proceed) -> Any:
        if self._withholding is None or written.finite is None or all(gradient is None for gradient in gradients):
            return proceed()
        build(self.optimizer, variables)  # variables cannot be made in a branch
        return self._withholding.apply(written.finite, proceed, lambda: self.optimizer.iterations)

    def _record(self, gradients: Sequence[Any], variables: Sequence[Any], loss: Any) -> Written:
        self.handed.update(map(key_of, variables))
        channel = self._recorder.channel(self.group, variables, self._options.capacity)
        scale, carried = loss_scale_of(self.optimizer)
        facts = StepFacts(loss=loss, loss_scale=scale, learning_rate=learning_rate_of(self.optimizer))
        how = Handling(
            scaled=carried,
            scaler_skips=self._scaler,
            withhold=self._withholding is not None,
            detail=self._options.detail,
            updates=True,
        )
        return self._recorder.record(self.group, channel, gradients, facts, how)

    def _keep_mask(self, variables: Sequence[Any]) -> None:
        if tf.executing_eagerly():
            self._recorder.flush()
        elif here(self.group.facts.replicas) == 0:
            self._recorder.record_without_gradients(self.group, variables)
