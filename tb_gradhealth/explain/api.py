"""`explain`: why gradients of one function or step are None, zero, NaN or Inf, without any run."""

import contextlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from tb_gradhealth.explain import reasons, variables, zero
from tb_gradhealth.explain.calls import GradientCall
from tb_gradhealth.explain.none import Asked, Explainer
from tb_gradhealth.explain.nonfinite import CannotRun, StepWatch
from tb_gradhealth.explain.observer import observer
from tb_gradhealth.explain.source import Place
from tb_gradhealth.explain.tape_watch import TapeWatch
from tb_gradhealth.format.causes import Cause

NOTHING = "Nothing to explain: every gradient arrives, is finite and is not exactly zero."


class Causes(list[Cause]):
    """Causes, the first to mend first; shows itself as text, and as a fragment of HTML in a notebook."""

    def __repr__(self) -> str:
        return "\n\n".join(map(str, self)) or NOTHING

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return "<hr>".join(cause._repr_html_() for cause in self) or f"<div>{NOTHING}</div>"


def explain(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Causes:
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
      Causes, the first to mend first: a list. An empty one: every gradient arrives, is finite and is not exactly zero.

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
    result: Any = None
    watch = TapeWatch(on_causes=found.extend)
    with watch, StepWatch() as step:
        before = set(map(id, observer.calls))
        try:
            if hasattr(function, "get_concrete_function"):
                _trace(function, args, kwargs, before)
            else:
                result = _run(function, args, kwargs, before)
        except Exception:
            if found:
                return Causes(found)
            raise
        calls = [call for call in observer.calls if id(call) not in before]
        if not calls:
            found += _without_gradient(function, result)
        inner = {id(nested) for call in calls for nested in call.inner}
        for call in calls:
            if id(call) not in inner:
                found += _of_call(call)
    with contextlib.suppress(CannotRun):
        if hasattr(function, "get_concrete_function"):
            found += step.causes_of_traced(function, args, kwargs)
        else:
            found += step.causes(result)
    return Causes({cause.id: cause for cause in found}.values())


def _trace(function: Any, args: Any, kwargs: Any, before: set[int]) -> None:
    """Traces a `tf.function` while somebody watches, once more if it had been traced before."""
    function.get_concrete_function(*args, **kwargs)
    if all(id(call) in before for call in observer.calls) and hasattr(function, "python_function"):
        tf.function(function.python_function).get_concrete_function(*args, **kwargs)


def _run(function: Callable[..., Any], args: Any, kwargs: Any, before: set[int]) -> Any:
    """Calls a function once, and differentiates what it returns if it asks no tape itself."""
    with tf.GradientTape() as tape:
        observer.tapes.forget(tape)  # it is none of the program's
        result = function(*args, **kwargs)
    targets = _floating(result)
    sources = tape.watched_variables()
    if targets and sources and all(id(call) in before for call in observer.calls):
        tape.gradient(targets, sources)
    return result


def _floating(result: Any) -> list[Any]:
    return [item for item in tf.nest.flatten(result) if tf.is_tensor(item) and item.dtype.is_floating]


def _without_gradient(function: Callable[..., Any], result: Any) -> list[Cause]:
    """Causes for a function that takes no gradient and returns nothing that could be differentiated."""
    code = getattr(inspect.unwrap(getattr(function, "python_function", function)), "__code__", None)
    place = None if code is None else Place(code.co_filename, code.co_firstlineno, code.co_name)
    reason_id = "constant_loss" if _floating(result) else "none_given"
    words = reasons.words(reason_id, "", "")
    where = {} if place is None else {"file": place.file, "line": place.line, "code": place.code}
    return [Cause(kind="none", reason_id=reason_id, reason=words.reason, fix=words.fix, op="loss", **where)]  # type: ignore[arg-type]


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
