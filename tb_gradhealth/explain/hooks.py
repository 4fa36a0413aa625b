"""The patches by which `observer` learns of tapes: on with the first watch that opens, off with the last that closes.

Each stands for a public call: `with tf.GradientTape()`, `stop_recording`, `reset`, `gradient`, `tf.gradients`,
`tf.custom_gradient`. A patch calls what it replaces with the arguments as they came and returns what that returns. If
somebody else patched the same name meanwhile, theirs stays and ours only falls silent.
"""

import contextlib
import functools
import threading
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tb_gradhealth.explain import private
from tb_gradhealth.explain.nonfinite import gradient_calls
from tb_gradhealth.explain.observer import FIRST, caller_name, observer

_lock = threading.RLock()
_users = 0
_undo: list[Callable[[], None]] = []


def open_() -> None:
    """Puts the hooks on, unless they are."""
    global _users  # noqa: PLW0603 - TensorFlow's classes are global, and so is what is done to them
    with _lock:
        _users += 1
        if _users == 1:
            _install()
        observer.arm(FIRST)


def close() -> None:
    """Takes them off with the last user."""
    global _users  # noqa: PLW0603
    with _lock:
        if not _users:
            return
        _users -= 1
        if not _users:
            for undo in reversed(_undo):
                undo()
            _undo.clear()
            observer.clear()


def is_open() -> bool:
    """Whether anybody watches."""
    return _users > 0


def _install() -> None:
    gradient_calls.open_()
    _undo.append(gradient_calls.close)
    tape = tf.GradientTape
    for name in ("gradient", "jacobian", "batch_jacobian"):
        _replace(tape, name, functools.partial(_call_of_tape, name))
    methods = private.tape_methods()
    if "_push_tape" in methods and "_pop_tape" in methods:
        _replace(tape, "_push_tape", _pushing)
        _replace(tape, "_pop_tape", _popping)
    gradients = private.gradients_module()
    if gradients is not None:
        _replace(gradients, "_GradientsHelper", _call_of_gradients)
    record = private.record_module()
    if record is not None and hasattr(record, "record_operation"):
        _replace(record, "record_operation", _recording)
    function = private.function_class()
    _replace(function, "call_flat", _calling)
    session = private.session_class()
    if session is not None:
        _replace(session, "run", _running)


def _replace(owner: Any, name: str, around: Callable[..., Any]) -> None:
    original = owner.__dict__[name]

    @functools.wraps(original)  # its module is TensorFlow's, so that AutoGraph leaves it alone as it does the original
    def patch(*args: Any, **named: Any) -> Any:
        return around(original, *args, **named)

    setattr(owner, name, patch)

    def undo() -> None:
        if owner.__dict__.get(name) is patch:
            setattr(owner, name, original)

    _undo.append(undo)


def _call_of_tape(method: str, original: Callable[..., Any], tape: Any, *args: Any, **named: Any) -> Any:
    with observer.call(tape, method, args, named) as answered:
        results = original(tape, *args, **named)
        answered(results)
    return results


def _call_of_gradients(original: Callable[..., Any], *args: Any, **named: Any) -> Any:
    if caller_name(3) not in ("gradients", "gradients_v2"):  # TensorFlow's own use, inside loops and functions
        return original(*args, **named)
    names = dict(zip(("ys", "xs"), args, strict=False)) | named
    with observer.call(None, "tf.gradients", (names.get("ys"), names.get("xs")), {}) as answered:
        results = original(*args, **named)
        answered(results)
    return results


def _calling(original: Callable[..., Any], *args: Any, **named: Any) -> Any:
    try:
        return original(*args, **named)
    except tf.errors.OpError as error:
        if tf.executing_eagerly():
            observer.step_failed(error)
        raise


def _running(original: Callable[..., Any], *args: Any, **named: Any) -> Any:
    try:
        return original(*args, **named)
    except tf.errors.OpError as error:
        observer.step_failed(error)
        raise


def _pushing(original: Callable[..., Any], tape: Any, *args: Any, **named: Any) -> Any:
    result = original(tape, *args, **named)
    with contextlib.suppress(Exception):
        observer.tape_on(tape)
    return result


def _popping(original: Callable[..., Any], tape: Any, *args: Any, **named: Any) -> Any:
    with contextlib.suppress(Exception):
        observer.tape_off(tape, caller_name(3))
    return original(tape, *args, **named)


def _recording(original: Callable[..., Any], *args: Any, **named: Any) -> Any:
    if len(args) > 3:  # (op_type, output_tensors, input_tensors, backward_function, …), as all callers have it
        with contextlib.suppress(Exception):
            args = (*args[:3], observer.custom_gradient(*args[:4]), *args[4:])
    return original(*args, **named)
