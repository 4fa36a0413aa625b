"""Where a step is being recorded: on which replica, and on which device its ring belongs."""

from typing import Any

import tensorflow as tf


def replica_count() -> int:
    """Replicas of the current strategy on this worker; 1 without a strategy."""
    if not tf.distribute.has_strategy():
        return 1
    return len(tf.distribute.get_strategy().extended.worker_devices)


def check_strategy(what: str, strategy: Any = None) -> None:
    """Raises where gradients arise on machines whose memory this process cannot read.

    Args:
      what: is being used, for the message.
      strategy: default: the current one.
    """
    if strategy is None:
        strategy = tf.distribute.get_strategy()
    if isinstance(strategy, tf.distribute.experimental.ParameterServerStrategy | tf.distribute.ParameterServerStrategy):
        raise RuntimeError(
            f"{what} cannot record under a ParameterServerStrategy: its steps run on other machines at their own pace, "
            "so that there is no one order of steps, and their gradients are not in the memory of this process. "
            f"Received: {type(strategy).__name__}. Train without the recorder there, or look at the gradients in a run "
            "on one machine or with MirroredStrategy or MultiWorkerMirroredStrategy."
        )


def check_withholding(policy: str, strategy: Any = None) -> None:
    """Raises where updates of bad steps are to be withheld and several workers would have to agree on it.

    A worker that goes without an update would leave the others waiting for its share of the reduction, for ever.

    Args:
      policy: `on_nonfinite`.
      strategy: default: the current one.
    """
    if strategy is None:
        strategy = tf.distribute.get_strategy()
    if policy == "record" or strategy.num_replicas_in_sync == 1:  # the default strategy has no devices to ask for
        return
    if strategy.num_replicas_in_sync > len(strategy.extended.worker_devices):
        raise RuntimeError(
            f'on_nonfinite="{policy}" is not possible with several workers: each sees its own gradients only, and one '
            "that withheld its update would leave the others waiting for ever. "
            f"Received: {type(strategy).__name__} with {strategy.num_replicas_in_sync} replicas in all. "
            'Use on_nonfinite="record".'
        )


def here(replicas: int) -> int:
    """The replica whose code is being run, counted on this worker; 0 outside of any."""
    context = tf.distribute.get_replica_context()
    if replicas == 1 or context is None:
        return 0
    number = tf.get_static_value(context.replica_id_in_sync_group)
    return int(number if number is not None else 0) % replicas


def replica_devices(replicas: int) -> list[str | None]:
    """The device of each replica's ring; None where TensorFlow decides."""
    if replicas == 1:
        return [None]
    return list(tf.distribute.get_strategy().extended.worker_devices)
