"""Which operation is being differentiated: noted for every gradient operation, in graphs and in eager mode.

A tape differentiates one recorded operation after the other through one function that TensorFlow lets be replaced.
While somebody listens, ours stands in for it, calls it, and notes which operations came into being meanwhile. Counted,
so that several listeners may come and go in any order; with the last one the original function is back.

In a graph the notes stay with the graph (they hold no tensor), so that a step traced while a writer was open can be
explained long after.
"""

import bisect
import contextlib
import threading
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tb_gradhealth.explain import private

EagerListener = Callable[..., Any]
"""Called in place of TensorFlow's function, with that function first and then its arguments; returns its result."""

_NOTES = "_gradhealth_gradient_notes"


class _State(threading.local):
    def __init__(self) -> None:
        self.eager: list[EagerListener] = []


_state = _State()
_lock = threading.Lock()
_users = 0
_original: Callable[..., Any] | None = None


def open_() -> None:
    """Begins to note the gradient operations of graphs being traced."""
    global _users, _original  # noqa: PLW0603 - one registration per process, as TensorFlow has it
    with _lock:
        if not _users:
            _original = private.gradient_function()
            private.register_gradient_function(_differentiate)
        _users += 1


def close() -> None:
    """The opposite of `open_`."""
    global _users  # noqa: PLW0603
    with _lock:
        _users = max(0, _users - 1)
        if not _users and _original is not None:
            private.register_gradient_function(_original)


def listen(listener: EagerListener) -> None:
    """Has `listener` called for the derivatives of eager operations in this thread; needs `open_`."""
    _state.eager.append(listener)


def unlisten(listener: EagerListener) -> None:
    """The opposite of `listen`."""
    if listener in _state.eager:
        _state.eager.remove(listener)


def _differentiate(*args: Any) -> Any:
    assert _original is not None
    if tf.executing_eagerly():
        if _state.eager:
            return _state.eager[-1](_original, *args)
        return _original(*args)
    graph = tf.compat.v1.get_default_graph()
    before, forward = graph.version, None
    with contextlib.suppress(Exception):  # without it the forward operation will be inferred
        forward = _forward_of(str(args[0]), args[3], args[4])
    result = _original(*args)
    with contextlib.suppress(Exception):
        _note(graph, before, graph.version, forward, str(args[0]))
    return result


def _note(graph: Any, before: int, after: int, forward: Any, op_name: str) -> None:
    if after == before:
        return
    notes: _Notes | None = getattr(graph, _NOTES, None)
    if notes is None:
        notes = _Notes()
        setattr(graph, _NOTES, notes)
    notes.add(before, after, forward, op_name)


def _forward_of(op_name: str, inputs: Any, outputs: Any) -> Any:
    for tensor in outputs or ():
        op = getattr(tensor, "op", None)
        if op is not None and op.type == op_name:
            return op
    known = [(place, tensor) for place, tensor in enumerate(inputs or ()) if hasattr(tensor, "consumers")]
    for _, tensor in known[:1]:
        for consumer in reversed(tensor.consumers()):
            taken = consumer.inputs
            if consumer.type == op_name and all(len(taken) > at and taken[at] is other for at, other in known):
                return consumer
    return None


class _Notes:
    """Ranges of operations of one graph, in the order of their creation, each with the operation they differentiate."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ranges: list[tuple[int, int, Any, str]] = []
        self._places: dict[int, int] = {}

    def add(self, before: int, after: int, forward: Any, name: str) -> None:
        self._starts.append(before)
        self._ranges.append((before, after, forward, name))

    def find(self, graph: Any, op: Any) -> tuple[Any, str] | None:
        if len(self._places) != len(graph.get_operations()):
            self._places = {id(other): place for place, other in enumerate(graph.get_operations())}
        place = self._places.get(id(op))
        if place is None:
            return None
        at = bisect.bisect_right(self._starts, place) - 1
        while at >= 0:  # ranges nest where a derivative is itself differentiated while it is made
            before, after, forward, name = self._ranges[at]
            if before <= place < after:
                return forward, name
            if place - before > 4096:
                break
            at -= 1
        return None


def noted_forward(op: Any) -> tuple[Any, str] | None:
    """The operation that a graph's gradient operation differentiates, and its type; None where nothing was noted.

    The operation is None where only its type is known.
    """
    notes: _Notes | None = getattr(op.graph, _NOTES, None)
    return None if notes is None else notes.find(op.graph, op)
