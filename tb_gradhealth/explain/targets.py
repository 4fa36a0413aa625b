"""What tapes differentiated last: the loss of a step whose caller did not hand it over.

Promises: nothing is kept alive (weak references), nothing is read from the device, and a target is only given out in
the graph or thread in which it was differentiated. Costs two weak references a gradient call.
"""

import collections
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

REMEMBERED = 8
"""Gradient calls that are remembered for each thread."""


class Targets(threading.local):
    """The latest gradient calls of each thread."""

    def __init__(self) -> None:
        self._calls: collections.deque[tuple[Any, list[Any]]] = collections.deque(maxlen=REMEMBERED)

    def note(self, target: Any, results: Any) -> None:
        """A tape was asked for the derivatives of `target`, and answered `results`."""
        tensor = _only_tensor(target)
        if tensor is not None:
            self._calls.append((weakref.ref(tensor), [weakref.ref(item) for item in _tensors(results)]))

    def of(self, gradients: Sequence[Any]) -> Any:
        """The tensor whose derivatives these are; of gradients made from others, what was differentiated last.

        None if it is gone, belongs to another graph, or if several were differentiated together.
        """
        wanted = {id(item) for item in _tensors(gradients)}
        latest = None
        for target, results in reversed(self._calls):
            tensor = target()
            if tensor is None or not _is_here(tensor):
                continue
            if any(id(item()) in wanted for item in results):
                return tensor
            latest = tensor if latest is None else latest
        return latest

    def clear(self) -> None:
        self._calls.clear()


def _only_tensor(target: Any) -> Any:
    if tf.is_tensor(target):
        return target if isinstance(target, tf.Tensor) else None
    if isinstance(target, list | tuple | dict):
        items = tf.nest.flatten(target)
        return items[0] if len(items) == 1 and isinstance(items[0], tf.Tensor) else None
    return None


def _tensors(items: Any) -> list[Any]:
    flat = tf.nest.flatten(items) if isinstance(items, list | tuple | dict) else [items]
    return [item.values if isinstance(item, tf.IndexedSlices) else item for item in flat if tf.is_tensor(item)]


def _is_here(tensor: Any) -> bool:
    if not (tensor.dtype.is_floating or tensor.dtype.is_complex):
        return False
    if tf.executing_eagerly():
        return hasattr(tensor, "numpy")
    return getattr(tensor, "graph", None) is tf.compat.v1.get_default_graph()


targets = Targets()
