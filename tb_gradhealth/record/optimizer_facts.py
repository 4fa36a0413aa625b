"""What an optimizer can tell of a step, whichever Keras it is of. Knows attribute names, imports no Keras."""

import sys
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.record.schema import tf_variable


def is_optimizer(thing: Any) -> bool:
    """Whether it applies gradients: an optimizer of Keras 3, tf_keras, or TensorFlow 1."""
    return not isinstance(thing, type) and callable(getattr(thing, "apply_gradients", None))


def is_v1(optimizer: Any) -> bool:
    """Whether it is an optimizer of TensorFlow 1."""
    return isinstance(optimizer, tf.compat.v1.train.Optimizer)


def is_scaler(optimizer: Any) -> bool:
    """Whether it scales losses and skips updates that overflowed."""
    return hasattr(optimizer, "inner_optimizer") and (
        hasattr(optimizer, "scale_loss") or bool(getattr(optimizer, "dynamic", False))
    )


def group_name(optimizer: Any) -> str:
    """The optimizer's kind, which is the same in every run: ``"adam"``."""
    return type(getattr(optimizer, "inner_optimizer", optimizer)).__name__.lower()


def iterations_of(optimizer: Any) -> int:
    """Steps applied so far, counting every call also where gradients are accumulated."""
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    counter = getattr(inner, "_iterations", None)
    if counter is None:
        counter = getattr(inner, "iterations", 0)
    try:
        return int(tf_variable(counter))
    except (TypeError, ValueError, tf.errors.OpError):
        return 0


def learning_rate_of(optimizer: Any) -> Any:
    """The learning rate of this step: a tensor, or None where the optimizer has none."""
    schedule = getattr(optimizer, "_learning_rate", None)  # asked itself: tf_keras's rate is that of the step before
    rate = schedule if callable(schedule) else getattr(optimizer, "learning_rate", None)
    if rate is None:
        return None
    if callable(rate) and not isinstance(rate, tf.Variable) and not hasattr(rate, "value"):
        rate = rate(optimizer.iterations)
    try:
        return tf.convert_to_tensor(tf_variable(rate))
    except (TypeError, ValueError):
        return None


def loss_scale_of(optimizer: Any) -> tuple[Any, bool]:
    """The loss scale of this step or None, and whether the gradients handed to the optimizer still carry it."""
    if hasattr(optimizer, "scale_loss"):  # Keras 3
        if is_scaler(optimizer):
            scale = optimizer.dynamic_scale if optimizer.built else optimizer.initial_scale
        else:
            scale = getattr(optimizer, "loss_scale_factor", None)
        return (None if scale is None else tf.cast(tf_variable(scale), tf.float32)), scale is not None
    if hasattr(optimizer, "inner_optimizer"):  # tf_keras un-scales before it applies
        return tf.cast(optimizer.loss_scale, tf.float32), False
    return None, False


def build(optimizer: Any, variables: Sequence[Any]) -> None:
    """Makes the optimizer's variables now, as its own `apply` would."""
    if getattr(optimizer, "built", False) or not callable(getattr(optimizer, "build", None)):
        return
    keras = sys.modules.get("keras")
    scope = getattr(keras, "name_scope", None)
    if scope is not None and hasattr(optimizer, "scale_loss"):  # Keras 3
        with scope(optimizer.name, caller=optimizer):
            optimizer.build(list(variables))
    else:
        with tf.name_scope(optimizer.name or "optimizer"), tf.init_scope():
            optimizer.build(list(variables))
