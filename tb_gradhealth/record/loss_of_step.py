"""The loss of the step being run: what the model's `compute_loss` returned last, in the same graph and thread."""

import threading
from typing import Any

import tensorflow as tf

from tb_gradhealth.record.instance_hook import InstanceHook
from tb_gradhealth.record.tracing import never_converted


class LossOfStep:
    """Hooks a model's `compute_loss` until `remove`. Models without one have no loss to tell."""

    def __init__(self, model: Any) -> None:
        self._latest = threading.local()
        self._hooks = [InstanceHook(model, "compute_loss", self._around)] if hasattr(model, "compute_loss") else []

    def __call__(self) -> Any:
        """The loss, a tensor ``[]`` of the graph being traced (or eager), or None if it is not known."""
        loss = getattr(self._latest, "loss", None)
        self._latest.loss = None
        if loss is None or not tf.is_tensor(loss):
            return None
        if tf.executing_eagerly():
            return loss if hasattr(loss, "numpy") else None
        same_graph = getattr(loss, "graph", None) is tf.compat.v1.get_default_graph()
        return loss if same_graph else None

    def remove(self) -> None:
        for hook in self._hooks:
            hook.remove()

    @never_converted
    def _around(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        loss = original(*args, **kwargs)
        self._latest.loss = loss
        return loss
