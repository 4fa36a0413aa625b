"""What a variable is called and by which handles TensorFlow knows it, whatever made it."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.explain import private
from tb_gradhealth.explain.graph_walk import key_of_tensor


def name_of(variable: Any, place: int = 0) -> str:
    """The path of a Keras variable, else the name without ``:0``, else its place in the list."""
    for attribute in ("path", "name"):
        try:
            name = getattr(variable, attribute)
        except Exception:  # eager tensors raise when asked for a name
            continue
        if isinstance(name, str) and name:
            return name.removesuffix(":0")
    return f"variable_{place}"


def names_of(variables: Sequence[Any]) -> list[str]:
    """The name of each."""
    return [name_of(variable, place) for place, variable in enumerate(variables)]


def raw(variable: Any) -> Any:
    """TensorFlow's variable behind a Keras one; anything else as it is."""
    if isinstance(variable, tf.Variable):
        return variable
    value = getattr(variable, "value", None)
    return value if not callable(value) and isinstance(value, tf.Variable) else variable


def keys_of(variable: Any) -> tuple[Any, ...]:
    """Keys of a variable as `GraphWalk` gives them, one for each replica; of a plain tensor, its own."""
    variable = raw(variable)
    parts = getattr(variable, "values", None)
    if isinstance(parts, tuple):  # a distributed variable
        return tuple(key for part in parts for key in keys_of(part))
    try:
        handle = getattr(variable, "handle", None)
        if handle is not None:
            return (key_of_tensor(handle),)
        if isinstance(variable, tf.Variable):  # a variable of TensorFlow 1 without a handle
            return (variable.op.outputs[0].ref(),)
    except Exception:  # a variable whose graph is gone
        return ()
    return (key_of_tensor(variable),) if tf.is_tensor(variable) else ()


def is_variable(variable: Any) -> bool:
    """Whether it is a variable and not a mere tensor."""
    return isinstance(raw(variable), tf.Variable) or hasattr(raw(variable), "handle")


def is_trainable(variable: Any) -> bool:
    """Whether both Keras and TensorFlow take it for trainable."""
    return bool(getattr(variable, "trainable", True)) and bool(getattr(raw(variable), "trainable", True))


def differentiable(variable: Any) -> bool:
    """Whether its dtype can have a derivative at all."""
    dtype = tf.as_dtype(getattr(raw(variable), "dtype", tf.float32)).base_dtype
    return bool(dtype.is_floating or dtype.is_complex)


def tensor_key(tensor: Any) -> Any:
    """A key of any tensor: a number for an eager one."""
    number = private.tensor_id(tensor)
    return number if number is not None else tensor.ref()


def is_eager(variable: Any) -> bool:
    """Whether a variable lives outside every TensorFlow 1 graph, so that its value can be looked at."""
    keys = keys_of(variable)
    return bool(keys) and isinstance(keys[0], int)
