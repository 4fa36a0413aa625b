"""Keeping what the first step with a NaN or an Inf was made of, so that it can be explained afterwards.

While a step is traced, `StepKeeper.keep` adds one branch to it that is taken only at the first step whose gradients are
not finite: it copies the function's own inputs (the batch) and the variables, before their update, into variables that
hold nothing until then. So nothing is copied at a healthy step, no step waits for the host, and the very step that went
wrong is kept, however late the host looks.

To explain bad steps, give the recorder a callback before the model is hooked:

    recorder.on_bad_step(lambda kept: my_causes(kept))      # -> Sequence[Cause], written to the log at once

It is called with a `KeptStep`, once for each group and trace, in the thread that drains. Where nothing could be kept
(`KeptStep.why_not`), the states of the step are still there.

Under XLA, whose branches need static shapes on both sides, the same is done around the call of the compiled function
(`explain.nonfinite.held`). Not kept: a step with more than `MAX_TENSORS` tensors.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.explain.nonfinite import held
from tb_gradhealth.explain.nonfinite.graph_questions import handles_of
from tb_gradhealth.format.causes import Cause
from tb_gradhealth.format.windows import Windows
from tb_gradhealth.record.model_step import ModelStep, tensors_of
from tb_gradhealth.record.schema import key_of, tf_variable
from tb_gradhealth.record.tracing import outside, under_xla

MAX_TENSORS = 2000


@dataclasses.dataclass(frozen=True)
class KeptStep:
    """A step whose gradients were not finite.

    Attributes:
      group: its name.
      step: its number.
      window: the step as recorded, one window over the rows of the schema.
      schema_variables: the schema's variables, in its order; row = replica * len(schema_variables) + variable.
      variables, gradients: as handed over: the gradients are tensors of `graph`, or None in eager mode.
      loss: tensor of `graph`, if known.
      graph: the function graph the gradients were recorded in; None in eager mode, where the variables are kept and
        there are no inputs.
      data: what `train_step` was given: tensors of `graph`; in eager mode the batch itself. None if not known.
      inputs: pairs of a tensor of `graph` and its value at that step: the tensors of `data`, else the inputs of `graph`
        that are not captured.
      before: pairs of a variable and its value before the update.
      withheld: the update was held back (`on_nonfinite`), so the variables still are what they were.
      model: in `fit`, the model.
      why_not: why `inputs` and `before` are empty, "" if they are not.
    """

    group: str
    step: int
    window: Windows
    schema_variables: Sequence[Any]
    variables: Sequence[Any] = ()
    gradients: Sequence[Any] | None = None
    loss: Any = None
    graph: Any = None
    data: Any = None
    inputs: Sequence[tuple[Any, Any]] = ()
    before: Sequence[tuple[Any, Any]] = ()
    withheld: bool = False
    model: Any = None
    why_not: str = ""


OnBadStep = Callable[[KeptStep], Sequence[Cause]]


class StepKeeper:
    """Keeps the first bad step of one trace.

    Args:
      variables: those whose gradients are recorded.
      more: further variables that the step depends on (a model's other weights).
      model: in `fit`, the model.
      withheld: the updates of bad steps are held back.
      eager_data: gives the batch of an eager step, by its sequence number.
    """

    def __init__(
        self,
        variables: Sequence[Any],
        more: Sequence[Any] = (),
        model: Any = None,
        withheld: bool = False,
        eager_data: Callable[[int], Any] | None = None,
    ) -> None:
        self._variables = list(variables)
        self._model = model
        self._withheld = withheld
        self._eager_data = eager_data or _nothing
        found = {key_of(variable): tf_variable(variable) for variable in (*variables, *more)}
        self._sources = [variable for variable in found.values() if isinstance(variable, tf.Variable)]
        self._inputs: list[Any] = []
        self._copies: list[tf.Variable] = []
        self._gradients: Sequence[Any] | None = None
        self._loss: Any = None
        self._data: Any = None
        self._graph: Any = None
        self._kept: tf.Variable | None = None
        self._why_not = ""
        self._compiled = False
        self._done: tf.Variable | None = None
        self._frozen: tuple[int, Sequence[tuple[Any, Any]], Sequence[tuple[Any, Any]]] | None = None

    def of_graph(self, gradients: Sequence[Any], loss: Any, data: Any) -> None:
        """The function being traced is the step: its batch is kept, too, or its own inputs where that is not known."""
        self._graph = tf.compat.v1.get_default_graph()
        self._gradients, self._loss, self._data = list(gradients), loss, data
        self._inputs = tensors_of(data) or own_inputs(self._graph)

    def wants(self, norms: Any) -> Any:
        """Whether it wants to look at a step whose gradients may be finite: bool ``[]``, or None for never.

        Args:
          norms: float32 ``[variables]``, right if nothing is suspect.
        """
        return None

    def keep(self, finite: Any, seq: Any) -> None:
        """Adds the branch to the function being traced.

        Args:
          finite: bool ``[]``, whether this step's gradients are.
          seq: int64 ``[]``, the step's sequence number in its ring.
        """
        if under_xla():
            self._keep_under_xla(finite, seq)
            return
        if len(self._inputs) + len(self._sources) > MAX_TENSORS:
            self._why_not = f"the step has more than {MAX_TENSORS} inputs and variables"
            return
        if self._kept is None:
            outside(self._make_variables)
        assert self._kept is not None
        wanted = tf.logical_and(tf.logical_not(finite), tf.equal(self._kept, 0))
        tf.cond(wanted, lambda: self._copy(seq), lambda: tf.constant(False))

    def _keep_under_xla(self, finite: Any, seq: Any) -> None:
        """A compiled step only notes that it was bad; batch and weights are kept around its call (`held`)."""
        self._compiled = True
        if self._kept is None:
            outside(self._make_variables)
        assert self._kept is not None
        wanted = tf.logical_and(tf.logical_not(finite), tf.equal(self._kept, 0))
        self._kept.assign(tf.where(wanted, tf.cast(seq, tf.int64), self._kept))
        if not held.want(self, self._sources):
            self._why_not = "the step is compiled by XLA, and its weights are too large to be held beside themselves"

    @property
    def inputs(self) -> Sequence[Any]:
        """The tensors of the step's graph whose values are wanted."""
        return self._inputs

    def after_call(self, inputs: Sequence[Any], weights: Mapping[int, Any]) -> None:
        """Behind a call of a compiled step, inside a function being traced: keeps its batch if it was bad.

        Args:
          inputs: values of `inputs`.
          weights: id of a variable's handle → its value before the call.
        """
        done = self._done
        assert self._kept is not None and done is not None
        held_ = [weights.get(id(handle)) for source in self._sources for handle in handles_of(source)[:1]]
        copies = self._copies[: len(inputs)] + self._copies[len(self._inputs) :]
        pairs = [(copy, value) for copy, value in zip(copies, [*inputs, *held_], strict=False) if value is not None]
        wanted = tf.logical_and(tf.greater(self._kept, 0), tf.equal(self._done, 0))

        def keep() -> Any:
            for copy, value in pairs:
                copy.assign(tf.identity(value))
            done.assign(self._kept)
            return tf.constant(True)

        tf.cond(wanted, keep, lambda: tf.constant(False))

    def look_after_call(self, inputs: Sequence[Any], weights: Mapping[int, Any]) -> bool:
        """After an eager call of a compiled step: keeps the same if it was the first bad one, and says so."""
        if self._kept is None or int(self._kept.numpy()) == 0:
            return False
        before = [
            (source, weights[id(handle)])
            for source in self._sources
            for handle in handles_of(source)[:1]
            if id(handle) in weights
        ]
        self._frozen = (int(self._kept.numpy()), list(zip(self._inputs, inputs, strict=False)), before)
        return True

    def take(self) -> tuple[int, Sequence[tuple[Any, Any]], Sequence[tuple[Any, Any]]] | None:
        """Sequence number, inputs and variables of the kept step, or None as long as there is none. Host only."""
        if self._frozen is not None:
            return self._frozen
        told = self._done if self._compiled else self._kept
        if self._kept is None or told is None or int(told.numpy()) == 0:
            return None
        values = [copy.read_value() for copy in self._copies]
        for copy in self._copies:
            copy.assign(tf.zeros([0], copy.dtype))
        count = len(self._inputs)
        inputs = list(zip(self._inputs, values[:count], strict=True))
        before = list(zip(self._sources, values[count:], strict=True))
        return int(self._kept.numpy()), inputs, before

    def kept_step(self, group: str, window: Windows, schema_variables: Sequence[Any]) -> KeptStep:
        """The bad step whose window this is, with what was kept of it."""
        taken = self.take()
        why_not = self._why_not if taken is None else ""
        seq, inputs, before = taken or (0, (), ())
        return KeptStep(
            group=group,
            step=int(window.first_step[0]),
            window=window,
            schema_variables=schema_variables,
            variables=self._variables,
            gradients=self._gradients,
            loss=self._loss,
            graph=self._graph,
            data=self._data if self._graph is not None else self._eager_data(seq),
            inputs=inputs,
            before=before,
            withheld=self._withheld,
            model=self._model,
            why_not=why_not,
        )

    def _make_variables(self) -> None:
        self._kept = tf.Variable(0, dtype=tf.int64, trainable=False, name="gradhealth_kept")
        self._done = tf.Variable(0, dtype=tf.int64, trainable=False, name="gradhealth_kept") if self._compiled else None
        self._copies = [_empty_copy(tensor.dtype) for tensor in (*self._inputs, *self._sources)]

    def _copy(self, seq: Any) -> Any:
        assert self._kept is not None
        for copy, tensor in zip(self._copies, (*self._inputs, *self._sources), strict=True):
            copy.assign(tf.identity(tensor))
        self._kept.assign(seq)
        return tf.constant(True)


def own_inputs(graph: Any) -> list[Any]:
    """The placeholders of a function's own arguments that hold numbers or strings: no captures, no handles."""
    if graph is None:
        return []
    captured = {id(inner) for _, inner in getattr(graph, "captures", ())}
    return [
        tensor
        for tensor in getattr(graph, "inputs", ())
        if id(tensor) not in captured and tensor.dtype not in (tf.resource, tf.variant)
    ]


def _nothing(seq: int) -> None:
    return None


def _empty_copy(dtype: Any) -> tf.Variable:
    return tf.Variable(
        tf.zeros([0], dtype), shape=tf.TensorShape(None), trainable=False, dtype=dtype, name="gradhealth_evidence"
    )


class Evidence:
    """The keepers of a recorder, and those who want to hear of bad steps.

    Nothing is kept unless somebody was registered before the step was traced.
    """

    def __init__(self) -> None:
        self._callbacks: list[OnBadStep] = []
        self._keepers: dict[str, list[StepKeeper]] = {}
        self._told: set[str] = set()
        self.more_variables: Callable[[], Sequence[Any]] = tuple
        """Gives, while a step is traced, the variables it depends on besides those whose gradients are recorded."""
        self.model: Any = None
        self.model_step: ModelStep | None = None

    def register(self, callback: OnBadStep) -> None:
        """Calls back with each `KeptStep`."""
        self._callbacks.append(callback)

    def keeper(self, group: str, variables: Sequence[Any], withheld: bool) -> StepKeeper | None:
        """A keeper for a step about to be traced, or None if nobody wants to know."""
        if not self._callbacks:
            return None
        step = self.model_step
        eager_data = step.eager_data if step is not None else _nothing
        keeper = StepKeeper(variables, self.more_variables(), self.model, withheld, eager_data)
        self._keepers.setdefault(group, []).append(keeper)
        return keeper

    def causes(self, group: str, bad: Windows, schema_variables: Sequence[Any]) -> list[Cause]:
        """What the callbacks say of the steps that were kept, or of the first bad step if none could be."""
        causes: list[Cause] = []
        for kept in self._new_steps(group, bad, schema_variables):
            for callback in self._callbacks:
                causes += callback(kept)
        return causes

    def _new_steps(self, group: str, bad: Windows, schema_variables: Sequence[Any]) -> list[KeptStep]:
        first = bad.select(slice(0, 1))
        keepers = self._keepers.get(group, ())
        steps = [keeper.kept_step(group, first, schema_variables) for keeper in keepers]
        found = [step for step in steps if step.before]
        self._keepers[group] = [keeper for keeper, step in zip(keepers, steps, strict=True) if not step.before]
        if not found and group not in self._told:
            found = steps[-1:]
        self._told.add(group)
        return found
