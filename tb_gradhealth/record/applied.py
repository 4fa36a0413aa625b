"""What happens when an optimizer is given gradients: they are measured, recorded and explained, then it goes on."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.record.channel import Channel, Handling
from tb_gradhealth.record.group import Group
from tb_gradhealth.record.model_step import ModelStep
from tb_gradhealth.record.none_causes import NoneExplainer
from tb_gradhealth.record.optimizer_facts import is_scaler, iterations_of, learning_rate_of, loss_scale_of
from tb_gradhealth.record.optimizer_hook import OptimizerHook, Proceed
from tb_gradhealth.record.places import here
from tb_gradhealth.record.recorder import CAPACITY, Recorder
from tb_gradhealth.record.ring import StepFacts


class AppliedGradients:
    """One hooked optimizer and its group.

    Args:
      optimizer: is hooked until `remove`.
      recorder, group: where its steps go.
      explainer: is asked about None gradients; None to ask nobody.
      model_step: tells the loss of the step being run or traced.
      capacity: steps a ring holds.
    """

    def __init__(
        self,
        optimizer: Any,
        recorder: Recorder,
        group: Group,
        explainer: NoneExplainer | None = None,
        model_step: ModelStep | None = None,
        capacity: int = CAPACITY,
    ) -> None:
        self.optimizer = optimizer
        self.group = group
        self._recorder = recorder
        self._explainer = explainer
        self._model_step = model_step
        self.capacity = capacity
        self.on_traced: Callable[[], object] = lambda: None
        recorder.number_from(group, max(iterations_of(optimizer), group.last_step_plus_one()))
        self._hook = OptimizerHook(optimizer, self._on_apply)

    def remove(self) -> None:
        """The optimizer is as it was before."""
        self._hook.remove()

    def _on_apply(self, gradients: Sequence[Any], variables: Sequence[Any], proceed: Proceed) -> Any:
        if self._recorder.closed:
            return proceed()
        channel = self._recorder.channel(self.group, variables, self.capacity)
        if self._explainer is not None:
            self._explainer.look(self.group, gradients, variables)
        self._record(channel, gradients)
        if not tf.executing_eagerly():
            self.on_traced()
        try:
            return proceed()
        except BaseException:
            if all(gradient is None for gradient in gradients):  # "No gradients provided for any variable"
                self._keep_mask(gradients, variables)
            raise

    def _record(self, channel: Channel, gradients: Sequence[Any]) -> None:
        loss = None if self._model_step is None else self._model_step.loss()
        scale, carried = loss_scale_of(self.optimizer)
        facts = StepFacts(loss=loss, loss_scale=scale, learning_rate=learning_rate_of(self.optimizer))
        how = Handling(scaled=carried, scaler_skips=is_scaler(self.optimizer))
        self._recorder.record(self.group, channel, gradients, facts, how)

    def _keep_mask(self, gradients: Sequence[Any], variables: Sequence[Any]) -> None:
        if tf.executing_eagerly():
            self._recorder.flush()
        elif here(self.group.facts.replicas) == 0:
            self._recorder.record_without_gradients(self.group, variables)
