"""Holding back the update of a step whose gradients are not finite: in the graph, so that no step waits for the host.

`"skip"` withholds such updates and goes on; `"stop"` withholds them and every later one, so that the weights stay those
of the last good step until the host has ended the training. Weights that the forward pass itself changes (the moving
statistics of batch normalisation) are put back to what they were after the last update.
"""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.record.schema import tf_variable
from tb_gradhealth.record.tracing import outside

RECORD, SKIP, STOP = "record", "skip", "stop"


def checked_policy(policy: Any) -> str:
    """The argument `on_nonfinite`, or a `ValueError` that says what it should be."""
    if policy in (RECORD, SKIP, STOP):
        return str(policy)
    raise ValueError(
        f'`on_nonfinite` must be "record", "skip" or "stop". Received: on_nonfinite={policy!r}. "record" only records '
        'NaN and Inf, "skip" withholds the updates they would cause, "stop" also ends the training.'
    )


class Withholding:
    """Applies updates, or not.

    Args:
      policy: ``"skip"`` or ``"stop"``.
      also: variables that a step changes before its update and that a withheld step must leave as they were.
    """

    def __init__(self, policy: str, also: Sequence[Any] = ()) -> None:
        self._stops = policy == STOP
        self._also = [tf_variable(variable) for variable in also]
        outside(self._make_variables)

    def _make_variables(self) -> None:
        self._stopped = tf.Variable(False, trainable=False, name="gradhealth_stopped")
        self._former = [
            tf.Variable(tf.convert_to_tensor(variable), trainable=False, name="gradhealth_former")
            for variable in self._also
        ]

    def begin(self) -> None:
        """A training begins: nothing is stopped, and the weights as they are now are those to go back to."""
        self._stopped.assign(False)
        for former, variable in zip(self._former, self._also, strict=True):
            former.assign(tf.convert_to_tensor(variable))

    def apply(self, finite: Any, proceed: Callable[[], Any], result: Callable[[], Any]) -> Any:
        """Goes on with the update if it is to be applied.

        Args:
          finite: bool ``[]``, whether the step's gradients are.
          proceed: applies the update.
          result: what the call returns when it was withheld.
        """
        if self._stops:
            finite = tf.logical_and(finite, tf.logical_not(self._stopped))
            self._stopped.assign(tf.logical_not(finite))
        if tf.executing_eagerly():
            return self._applied(proceed) if bool(finite) else self._withheld(result)
        if _needs_merge_call():
            _across_replicas(finite, lambda: self._applied(proceed), lambda: self._withheld(result))
        else:
            tf.cond(
                finite, _then_nothing(lambda: self._applied(proceed)), _then_nothing(lambda: self._withheld(result))
            )
        return result()

    def stopped(self) -> bool:
        """Whether a step was withheld for good. Host only."""
        return bool(self._stopped.numpy())

    def _applied(self, proceed: Callable[[], Any]) -> Any:
        result = proceed()
        for former, variable in zip(self._former, self._also, strict=True):
            former.assign(tf.convert_to_tensor(variable))
        return result

    def _withheld(self, result: Callable[[], Any]) -> Any:
        for former, variable in zip(self._former, self._also, strict=True):
            variable.assign(former.read_value())
        return result()


def _then_nothing(function: Callable[[], Any]) -> Callable[[], Any]:
    def run() -> Any:
        function()
        return tf.constant(0)

    return run


def _needs_merge_call() -> bool:
    """Whether replicas run in threads that must not branch on their own (`MirroredStrategy`)."""
    supports = getattr(getattr(tf.__internal__, "distribute", None), "strategy_supports_no_merge_call", None)
    return tf.distribute.has_strategy() and supports is not None and not supports()


_proceeds: dict[int, dict[int, tuple[Callable[[], Any], Callable[[], Any]]]] = {}


def _across_replicas(finite: Any, applied: Callable[[], Any], withheld: Callable[[], Any]) -> None:
    """Branches once for all replicas: the update is applied if the gradients of each are finite."""
    context = tf.distribute.get_replica_context()
    branches = _proceeds.setdefault(id(context.strategy), {})
    branches[_number(context)] = (applied, withheld)

    def together(strategy: Any, finite_of_replicas: Any) -> None:
        every = tf.reduce_all(tf.stack(list(strategy.experimental_local_results(finite_of_replicas))))

        def run(which: int) -> Callable[[], Any]:
            def here() -> None:
                branches[_number(tf.distribute.get_replica_context())][which]()

            return lambda: strategy.extended.call_for_each_replica(here)

        tf.cond(every, _then_nothing(run(0)), _then_nothing(run(1)))

    context.merge_call(together, args=(finite,))


def _number(context: Any) -> int:
    return int(tf.get_static_value(context.replica_id_in_sync_group))
