"""Seeing the gradients that an optimizer is given: the hook behind `fit` and `watch`.

`apply` (Keras 3) and `apply_gradients` are replaced on the instance of the outermost optimizer, so that gradients are
seen raw: None included, before clipping, before a loss scaler filters them. The inner of nested calls is left alone.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from tb_gradhealth.record.instance_hook import InstanceHook
from tb_gradhealth.record.tracing import never_converted

Proceed = Callable[[], Any]
OnApply = Callable[[Sequence[Any], Sequence[Any], Proceed], Any]


class OptimizerHook:
    """Hooks one optimizer until `remove`.

    Args:
      optimizer: of Keras 3 or tf_keras.
      on_apply: called with the gradients, the variables and a function that goes on with the original call; returns
        what that function returned.
    """

    def __init__(self, optimizer: Any, on_apply: OnApply) -> None:
        self.optimizer = optimizer
        self._on_apply = on_apply
        self._inside = threading.local()
        self._hooks = [InstanceHook(optimizer, "apply_gradients", self._apply_gradients)]
        if callable(getattr(optimizer, "apply", None)):
            self._hooks.append(InstanceHook(optimizer, "apply", self._apply))

    def remove(self) -> None:
        """The optimizer is as it was before."""
        for hook in reversed(self._hooks):
            hook.remove()

    @never_converted
    def _apply(self, original: Callable[..., Any], grads: Any, trainable_variables: Any = None, **kwargs: Any) -> Any:
        grads = list(grads)
        variables = trainable_variables
        if variables is None:
            variables = getattr(self.optimizer, "_trainable_variables", None)
        else:
            variables = trainable_variables = list(variables)
        return self._seen(grads, variables, lambda: original(grads, trainable_variables, **kwargs))

    @never_converted
    def _apply_gradients(self, original: Callable[..., Any], grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
        pairs = list(grads_and_vars)
        gradients, variables = [g for g, _ in pairs], [v for _, v in pairs]
        return self._seen(gradients, variables, lambda: original(pairs, *args, **kwargs))

    def _seen(self, gradients: Sequence[Any], variables: Sequence[Any] | None, proceed: Proceed) -> Any:
        if getattr(self._inside, "active", False) or not variables or len(gradients) != len(variables):
            return proceed()  # a nested call, or one that the optimizer itself will refuse
        return self._within(lambda: self._on_apply(gradients, variables, lambda: self._within(proceed)))

    def _within(self, call: Proceed) -> Any:
        """Makes the call with nested calls left alone, also where it goes on in another thread (a replica's)."""
        before = getattr(self._inside, "active", False)
        self._inside.active = True
        try:
            return call()
        finally:
            self._inside.active = before
