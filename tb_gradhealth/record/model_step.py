"""What a model's step works on: its batch, from `train_step`, and its loss, from `compute_loss`.

Both are taken by hooks on the instance, and only ever given out in the graph and thread they came from.
"""

import collections
import threading
from typing import Any

import tensorflow as tf

from tb_gradhealth.record.instance_hook import InstanceHook
from tb_gradhealth.record.tracing import never_converted

KEPT_BYTES = 64 << 20
"""Eager batches kept by reference until the host has looked at their steps, at most this much."""


class ModelStep:
    """Listens to a model from `hook` to `remove`. A model without these methods has nothing to tell."""

    def __init__(self, model: Any) -> None:
        self._latest = threading.local()
        self._eager: collections.deque[tuple[int, Any, int]] = collections.deque()
        self._eager_bytes = 0
        self._eager_count = 0
        self._model = model
        self._hooks: list[InstanceHook] = []

    def hook(self) -> None:
        """Begins to listen."""
        around = {"compute_loss": self._around_loss, "train_step": self._around_step}
        self._hooks = [
            InstanceHook(self._model, name, hook) for name, hook in around.items() if hasattr(self._model, name)
        ]

    def loss(self) -> Any:
        """The loss of the step: a tensor of the graph being traced (or eager), or None if it is not known."""
        loss = getattr(self._latest, "loss", None)
        self._latest.loss = None
        return loss if loss is not None and tf.is_tensor(loss) and _is_here(loss) else None

    def data(self) -> Any:
        """What `train_step` was given, if its tensors belong to the graph being traced; else None."""
        data = getattr(self._latest, "data", None)
        tensors = tensors_of(data)
        return data if tensors and all(_is_here(tensor) for tensor in tensors) else None

    def eager_data(self, seq: int) -> Any:
        """What the eager step with this number (counted from 1) was given, or None if it is no longer kept."""
        return next((data for number, data, _ in self._eager if number == seq), None)

    def remove(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        self._eager.clear()

    @never_converted
    def _around_loss(self, original: Any, *args: Any, **kwargs: Any) -> Any:
        loss = original(*args, **kwargs)
        self._latest.loss = loss
        return loss

    @never_converted
    def _around_step(self, original: Any, data: Any, *args: Any, **kwargs: Any) -> Any:
        self._latest.data = data
        if tf.executing_eagerly():
            self._keep_eager(data)
        return original(data, *args, **kwargs)

    def _keep_eager(self, data: Any) -> None:
        self._eager_count += 1
        size = sum(tensor.shape.num_elements() * max(tensor.dtype.size, 1) for tensor in tensors_of(data))
        self._eager.append((self._eager_count, data, size))
        self._eager_bytes += size
        while self._eager and (self._eager_bytes > KEPT_BYTES or len(self._eager) > 64):
            self._eager_bytes -= self._eager.popleft()[2]


def tensors_of(data: Any) -> list[Any]:
    """The tensors in a batch, in the order of `tf.nest.flatten`."""
    if data is None:
        return []
    return [leaf for leaf in tf.nest.flatten(data, expand_composites=True) if tf.is_tensor(leaf)]


def _is_here(tensor: Any) -> bool:
    if tf.executing_eagerly():
        return hasattr(tensor, "numpy")
    return getattr(tensor, "graph", None) is tf.compat.v1.get_default_graph()
