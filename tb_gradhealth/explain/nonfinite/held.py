"""The batch and the weights of a compiled step, kept around its call: XLA steps cannot keep them themselves.

While some step wants it (`want`), every call of a function that takes that step's variables is preceded by reading
them. A read shares the variable's memory, so nothing is copied; the update then writes to memory of its own. Where the
call is made inside another function being traced (as `fit` does), the step adds a branch behind it, taken only when it
went bad; where it is made eagerly, the step is asked after it. Promises: what the call computes and returns is not
changed; nothing is held beyond `BYTES`.
"""

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import tensorflow as tf

from tb_gradhealth.explain import private
from tb_gradhealth.explain.nonfinite.handles import handles_of

BYTES = 512 * 2**20
"""Weights beyond this are not held: a second copy of them might not fit beside the first."""


class Wants(Protocol):
    """A step that wants its weights held."""

    @property
    def inputs(self) -> Sequence[Any]:
        """Tensors of the step's graph."""
        ...

    def look_after_call(self, inputs: Sequence[Any], weights: Mapping[int, Any]) -> bool:
        """After an eager call: takes values of `inputs` and weights (id of a handle → value); True if it was bad."""
        ...

    def after_call(self, inputs: Sequence[Any], weights: Mapping[int, Any]) -> None:
        """The same behind a call inside a function being traced, where all of these are tensors of that function."""
        ...


class _State:
    def __init__(self) -> None:
        self.wanting: list[tuple[Wants, frozenset[int]]] = []
        self.original: Callable[..., Any] | None = None
        self.notes: dict[str, dict[int, Any]] | None = None
        self.listener: Callable[[Any, Sequence[Any], Any], object] | None = None


_state = _State()
_lock = threading.Lock()


def want(step: Wants, variables: Sequence[Any]) -> bool:
    """Holds the weights of these variables until the step was bad once. Returns whether that is possible."""
    handles = [handle for variable in variables for handle in handles_of(variable)]
    size = sum(int(v.shape.num_elements() or 0) * v.dtype.size for v in variables)
    if size > BYTES or not handles:
        return False
    with _lock:
        _state.wanting.append((step, frozenset(id(handle) for handle in handles)))
        _hook()
    return True


def note(on: bool) -> None:
    """Remembers, while on, the weights that each traced function called eagerly had before its last call."""
    with _lock:
        if on:
            _state.notes = {} if _state.notes is None else _state.notes
            _hook()
        else:
            _state.notes = None
            _unhook()


def noted(function: str) -> dict[int, Any]:
    """id of a handle → what the variable held before the last call of this function; empty if not noted."""
    return {} if _state.notes is None else _state.notes.get(function, {})


def listen(listener: Callable[[Any, Sequence[Any], Any], object] | None) -> None:
    """Calls back after each eager call of a function, with it, its arguments and its results; None: no longer."""
    with _lock:
        _state.listener = listener
        if listener is None:
            _unhook()
        else:
            _hook()


def _hook() -> None:
    if _state.original is None:
        owner = private.function_class()
        _state.original = owner.call_flat
        owner.call_flat = _call_flat


def _unhook() -> None:
    owner = private.function_class()
    free = not _state.wanting and _state.notes is None and _state.listener is None
    if free and _state.original is not None and owner.call_flat is _call_flat:
        owner.call_flat = _state.original
        _state.original = None


def release(steps: Sequence[Wants] | None = None) -> None:
    """Nothing is held any more for these steps (None: for any)."""
    with _lock:
        _state.wanting = [] if steps is None else [item for item in _state.wanting if item[0] not in steps]
        _unhook()


def _call_flat(function: Any, *args: Any) -> Any:
    original = _state.original or private.function_class().call_flat
    if _state.listener is not None and tf.executing_eagerly():
        return _listened(_state.listener, function, args, lambda: _seen_to(original, function, args))
    return _seen_to(original, function, args)


def _listened(listener: Callable[..., object], function: Any, args: Sequence[Any], call: Callable[[], Any]) -> Any:
    result = call()
    with contextlib.suppress(Exception):
        listener(function, args, result)
    return result


def _seen_to(original: Callable[..., Any], function: Any, args: Sequence[Any]) -> Any:
    if _state.notes is not None and tf.executing_eagerly():
        with contextlib.suppress(Exception):
            _note(function, args)
    if not _state.wanting:
        return original(function, *args)
    outer = _eager_handles(args)
    concerned = [step for step, handles in list(_state.wanting) if not handles.isdisjoint(outer.values())]
    if not concerned or (not tf.executing_eagerly() and private.inside_xla()):
        return original(function, *args)
    held: dict[int, Any] = {}
    with contextlib.suppress(Exception):
        held = {outer[place]: _value(args[place]) for place in outer}
    result = original(function, *args)
    with contextlib.suppress(Exception):
        _after(concerned, function, args, held)
    return result


def _note(function: Any, args: Sequence[Any]) -> None:
    assert _state.notes is not None
    found = {}
    for arg in args:
        if getattr(arg, "dtype", None) == tf.resource:
            with contextlib.suppress(private.Missing, tf.errors.OpError):
                found[id(arg)] = _value(arg)
    _state.notes[function.name.decode()] = found


def _after(steps: Sequence[Wants], function: Any, args: Sequence[Any], held: Mapping[int, Any]) -> None:
    done = []
    for step in steps:
        places = {id(tensor): place for place, tensor in enumerate(function.graph.inputs)}
        if not all(id(tensor) in places for tensor in step.inputs):
            continue  # a function around the step's own: its call inside that one was seen to
        inputs = [args[places[id(tensor)]] for tensor in step.inputs]
        if tf.executing_eagerly():
            if step.look_after_call(inputs, held):
                done.append(step)
        else:
            step.after_call(inputs, held)
            done.append(step)
    if done:
        release(done)


def _eager_handles(args: Sequence[Any]) -> dict[int, int]:
    """Place of an argument that is a wanted variable's handle → the id of the eager handle behind it."""
    wanted = frozenset().union(*(handles for _, handles in _state.wanting))
    if tf.executing_eagerly():
        return {place: id(arg) for place, arg in enumerate(args) if id(arg) in wanted}
    captures = {id(inner): id(outer) for outer, inner in tf.compat.v1.get_default_graph().captures}
    found = {place: captures.get(id(arg), id(arg)) for place, arg in enumerate(args)}
    return {place: key for place, key in found.items() if key in wanted}


def _value(handle: Any) -> Any:
    return tf.raw_ops.ReadVariableOp(resource=handle, dtype=private.dtype_behind(handle))
