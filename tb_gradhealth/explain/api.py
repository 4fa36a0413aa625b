"""`explain`: why gradients of one function or step are None, zero, NaN or Inf, without any run."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from tb_gradhealth.explain import variables, zero
from tb_gradhealth.explain.calls import GradientCall
from tb_gradhealth.explain.none import Asked, Explainer
from tb_gradhealth.explain.nonfinite import CannotRun, StepWatch
from tb_gradhealth.explain.observer import observer
from tb_gradhealth.explain.tape_watch import TapeWatch
from tb_gradhealth.format.causes import Cause


def explain(function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Cause]:
    """Asks about one training step or loss function: what is wrong with its gradients, on which line, what to change.

    ```python
    for cause in tb_gradhealth.explain(train_step, batch):
        print(cause)
    ```

    Args:
      function: what computes gradients with a `tf.GradientTape`. A `tf.function` is only traced, so that none of its
        updates happen; any other callable is called once. A function that computes a loss and takes no gradient is
        differentiated with respect to the trainable variables it reads.
      *args: for the function.
      **kwargs: for the function.

    Returns:
      Causes, the first to mend first. An empty list: every gradient arrives, is finite and is not exactly zero.

    Raises:
      TypeError: `function` is not callable.
      Whatever the function raises, unless it is the derivative that failed: then that is the cause.
    """
    if not callable(function):
        raise TypeError(
            f"`explain` takes a function to ask about and its arguments. Received: {type(function).__name__}. "
            "Write explain(train_step, batch), not explain(train_step(batch))."
        )
    found: list[Cause] = []
    watch = TapeWatch(on_causes=found.extend)
    with watch, StepWatch() as step:
        before = set(map(id, observer.calls))
        try:
            if hasattr(function, "get_concrete_function"):
                _trace(function, args, kwargs, before)
            else:
                result = function(*args, **kwargs)
        except Exception:
            if found:
                return found
            raise
        calls = [call for call in observer.calls if id(call) not in before]
        if not calls and not hasattr(function, "get_concrete_function"):
            _differentiate(function, args, kwargs)
            calls = [call for call in observer.calls if id(call) not in before]
        inner = {id(nested) for call in calls for nested in call.inner}
        for call in calls:
            if id(call) not in inner:
                found += _of_call(call)
    with contextlib.suppress(CannotRun):
        if hasattr(function, "get_concrete_function"):
            found += step.causes_of_traced(function, args, kwargs)
        else:
            found += step.causes(result)
    return list({cause.id: cause for cause in found}.values())


def _trace(function: Any, args: Any, kwargs: Any, before: set[int]) -> None:
    """Traces a `tf.function` while somebody watches, once more if it had been traced before."""
    function.get_concrete_function(*args, **kwargs)
    if all(id(call) in before for call in observer.calls) and hasattr(function, "python_function"):
        tf.function(function.python_function).get_concrete_function(*args, **kwargs)


def _differentiate(function: Any, args: Any, kwargs: Any) -> None:
    with tf.GradientTape() as tape:
        result = function(*args, **kwargs)
    targets = [item for item in tf.nest.flatten(result) if tf.is_tensor(item) and item.dtype.is_floating]
    sources = tape.watched_variables()
    if targets and sources:
        tape.gradient(targets, sources)


def _of_call(call: GradientCall) -> list[Cause]:
    explainer = Explainer(call, observer)
    names = variables.names_of(call.sources)
    none, zeros = [], []
    for place, item in enumerate(call.sources[: len(call.none)]):
        asked = Asked(item, names[place], place)
        if call.none[place]:
            none.append(asked)
        elif call.eager and _is_zero(observer.recorder.kept.get(call.results[place])):
            zeros.append(asked)
    found = explainer.none(none) if none else []
    return found + (zero.causes(explainer, zeros) if zeros else [])


def _is_zero(tensor: Any) -> bool:
    return tensor is not None and tensor.dtype.is_floating and not np.any(np.asarray(tensor))
