"""Every private TensorFlow name that `explain/` leans on, in one place.

Each has the public thing it stands for, a check when the module is imported, and a clear answer where TensorFlow has
moved it: the function that needs it raises `Missing`, whose text becomes "no explanation: …".
"""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf


class Missing(RuntimeError):
    """This TensorFlow lacks a private name that an explanation needs."""


def _find(module: str, name: str) -> Any:
    """`name` of the private `module`, or None."""
    import importlib

    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):  # pragma: no cover - all are present from TensorFlow 2.16 to 2.21
        return None


def _need(thing: Any, name: str) -> Any:
    if thing is None:
        raise Missing(f"TensorFlow {tf.__version__} has no {name}; tb_gradhealth knows TensorFlow 2.16 to 2.21.")
    return thing


# stands for: tf.raw_ops.<Op>(...), but by the operation's name and with its attributes as a graph has them
_execute = _find("tensorflow.python.eager.execute", "execute")
_execute_module = _find("tensorflow.python.eager", "execute")
_context = _find("tensorflow.python.eager.context", "context")

# stands for: tf.debugging.enable_dump_debug_info, which sees every operation in the same way
_add_op_callback = _find("tensorflow.python.framework.op_callbacks", "add_op_callback")
_remove_op_callback = _find("tensorflow.python.framework.op_callbacks", "remove_op_callback")

# stands for: tf.GradientTape.gradient, at the moment when it differentiates one operation
_gradient_function = _find("tensorflow.python.eager.backprop", "_gradient_function")
_register_gradient_function = _find("tensorflow.python.pywrap_tfe", "TFE_Py_RegisterGradientFunction")

# stands for: tf.types.experimental.AtomicFunction, of which a call in a graph or in eager mode has only the name
_atomic_function = _find("tensorflow.python.eager.polymorphic_function.atomic_function", "AtomicFunction")


def execute(op_type: str, inputs: Sequence[Any], attrs: Sequence[Any], outputs: int) -> list[Any]:
    """Runs one operation eagerly: its type, its flat inputs, name-value-name-value attributes, its number of outputs."""
    module = _need(_execute_module, "eager.execute")
    context = _need(_context, "eager.context")()
    return list(module.execute(op_type, outputs, inputs=list(inputs), attrs=tuple(attrs), ctx=context))


def add_op_callback(callback: Callable[..., Any]) -> None:
    """From now on `callback(type, inputs, attrs, outputs, name=, graph=)` after each operation of this thread."""
    _need(_add_op_callback, "op_callbacks.add_op_callback")(callback)


def remove_op_callback(callback: Callable[..., Any]) -> None:
    _need(_remove_op_callback, "op_callbacks.remove_op_callback")(callback)


def gradient_function() -> Callable[..., Any]:
    """TensorFlow's own function that differentiates one recorded operation."""
    return _need(_gradient_function, "backprop._gradient_function")  # type: ignore[no-any-return]


def register_gradient_function(function: Callable[..., Any]) -> None:
    """Has every tape call `function` to differentiate an operation, in the whole process."""
    _need(_register_gradient_function, "TFE_Py_RegisterGradientFunction")(function)


def original_operation(operation: Any) -> Any:
    """The operation whose derivative `operation` belongs to, as `tf.gradients` notes it; else None."""
    return getattr(operation, "_original_op", None)


def function_of(graph: Any, name: str) -> Any:
    """The function called `name` that `graph`, or a graph around it, knows; None if none does."""
    while graph is not None:
        find = getattr(graph, "_get_function", None)
        function = find(name) if find is not None else None
        if function is not None:
            return function
        graph = getattr(graph, "outer_graph", None)
    return None


def living_function(name: str) -> Any:
    """The function called `name` among all that live in this process; slow (it looks at every object), None if none."""
    import gc

    kind = _need(_atomic_function, "AtomicFunction")
    wanted = name.encode()
    for thing in gc.get_objects():
        if type(thing) is kind and thing.name == wanted:
            return thing
    return None
