"""Checks of what users hand over to be recorded. Each error says what is wrong, what was received, what to do."""

import operator
from typing import Any

import tensorflow as tf

from tb_gradhealth.record.schema import name_of


def checked_pairs(gradients: Any, variables: Any) -> tuple[list[Any], list[Any]]:
    """Gradients and variables as lists of the same length, or an error that says what is wrong."""
    if tf.is_tensor(gradients) or isinstance(variables, tf.Variable) or hasattr(variables, "path"):
        raise TypeError(
            "`gradients` and `variables` must be lists of the same length. "
            f"Received: gradients of type {type(gradients).__name__}, variables of type {type(variables).__name__}. "
            "Put a single gradient and its variable into lists: record([g], [v])."
        )
    gradients, variables = list(gradients), list(variables)
    if not variables:
        raise ValueError(
            "There are no variables to record. Received: variables=[]. Pass the list that `tape.gradient` was given; a "
            "model without weights may not have been built yet."
        )
    if len(gradients) != len(variables):
        raise ValueError(
            "`gradients` and `variables` must have the same length. "
            f"Received: {len(gradients)} gradients and {len(variables)} variables. "
            "Pass the very list that `tape.gradient` was given."
        )
    for index, gradient in enumerate(gradients):
        if not (gradient is None or isinstance(gradient, tf.IndexedSlices) or tf.is_tensor(gradient)):
            gradients[index] = _as_tensor(gradient, name_of(variables[index], index))
    return gradients, variables


def checked_step(step: Any) -> Any:
    """The step as a Python number, an integer tensor or None, or an error that says what is wrong."""
    if step is None:
        return None
    if tf.is_tensor(step) or isinstance(step, tf.Variable) or hasattr(step, "value"):
        step = tf.convert_to_tensor(step)
        if step.dtype.is_integer and step.shape.rank in (0, None):
            return step
        raise TypeError(
            f"`step` must be a whole number. Received: a tensor of dtype {step.dtype.name} and shape {step.shape}. "
            "Pass `optimizer.iterations`, or an integer."
        )
    try:
        number = operator.index(step)
    except TypeError:
        raise TypeError(
            f"`step` must be a whole number. Received: step={step!r} (of type {type(step).__name__}). "
            "Pass `optimizer.iterations`, or an integer."
        ) from None
    if number < 0:
        raise ValueError(f"`step` must not be negative. Received: step={number}. Count steps from 0.")
    return number


def _as_tensor(gradient: Any, name: str) -> Any:
    try:
        tensor = tf.convert_to_tensor(gradient)
    except (TypeError, ValueError):
        tensor = None
    if tensor is None or not (tensor.dtype.is_floating or tensor.dtype.is_complex or tensor.dtype.is_integer):
        raise TypeError(
            f"The gradient of {name!r} must be a tensor, a tf.IndexedSlices or None. "
            f"Received: {gradient!r} (of type {type(gradient).__name__})."
        )
    return tensor
