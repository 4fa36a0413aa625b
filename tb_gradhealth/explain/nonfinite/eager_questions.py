"""From an eagerly recorded step to the question that `blame` answers."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.explain import source
from tb_gradhealth.explain.nonfinite.blame import Gradient, Question
from tb_gradhealth.explain.nonfinite.eager_record import Recorder
from tb_gradhealth.explain.nonfinite.graph_questions import handles_of
from tb_gradhealth.explain.nonfinite.trace import VARIABLE, Trace, Value
from tb_gradhealth.explain.variables import name_of


def question_of(
    recorder: Recorder,
    gradients: Sequence[Any],
    variables: Sequence[Any],
    loss: Any = None,
    stack: source.Stack = (),
    step: int = -1,
) -> Question:
    """The question about a step that was recorded while it ran.

    Args:
      gradients: as the tape returned them, or computed from those while the recorder was on.
      variables: they belong to.
      loss: tensor or None.
    """
    trace, values = recorder.trace()
    return question_about(trace, values, gradients, variables, loss, stack, step)


def question_about(
    trace: Trace,
    values: dict[int, Value],
    gradients: Sequence[Any],
    variables: Sequence[Any],
    loss: Any = None,
    stack: source.Stack = (),
    step: int = -1,
) -> Question:
    """The same about a trace and the values in it, by the ids of their tensors."""
    label_variables(values, variables)
    found = tuple(
        Gradient(name_of(variable, place), _value(values, gradient))
        for place, (gradient, variable) in enumerate(zip(gradients, variables, strict=True))
        if gradient is not None
    )
    loss_value = None if loss is None or not tf.is_tensor(loss) else _value(values, loss)
    return Question(trace, found, loss_value, stack, step)


def label_variables(values: dict[int, Value], variables: Sequence[Any]) -> None:
    """Puts the variables' names to their handles and their values."""
    for place, variable in enumerate(variables):
        for tensor in handles_of(variable):
            value = values.get(id(tensor))
            if value is not None:
                value.label = name_of(variable, place)
                if value.node is None:
                    value.origin = VARIABLE


def _value(values: dict[int, Value], tensor: Any) -> Value:
    if isinstance(tensor, tf.IndexedSlices):
        tensor = tensor.values
    value = values.get(id(tensor))
    return value if value is not None else Value(tensor)
