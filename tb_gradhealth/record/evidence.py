"""Keeping what the first step with a NaN or an Inf was made of, so that it can be explained afterwards.

While a step is traced, `StepKeeper` adds branches to it that are taken only at the first step whose gradients or loss
are not finite, and at one whose gradients are enormous (and again at ten times as much): they copy the function's own
inputs (the batch) and the variables, before their update, into variables that hold nothing until then. So nothing is
copied at a healthy step, no step waits for the host, and the very step that went wrong is kept, however late the host
looks.

To explain bad steps, give the recorder a callback before the model is hooked:

    recorder.on_bad_step(lambda kept: my_causes(kept))      # -> Sequence[Cause], written to the log at once

It is called with a `KeptStep`, once for each group and trace, in the thread that drains. Where nothing could be kept
(`KeptStep.why_not`), the states of the step are still there.

What it takes of the device's memory, measured on 3.2 MB of weights and a batch of 256 kB: 36 bytes while steps are
well, 3.456 MB (one copy of both) from such a step until the host has explained it, then 36 bytes again. Eager steps are
noted on the host's side, by reference: see `explain.nonfinite.live`.

Under XLA, whose branches need static shapes on both sides, the same is done around the call of the compiled function
(`explain.nonfinite.held`). Not kept: a step with more than `MAX_TENSORS` tensors.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.explain.nonfinite import held
from tb_gradhealth.explain.nonfinite.graph_questions import handles_of
from tb_gradhealth.format.causes import Cause
from tb_gradhealth.format.windows import Windows
from tb_gradhealth.record.model_step import ModelStep, tensors_of
from tb_gradhealth.record.put_aside import PutAside
from tb_gradhealth.record.schema import key_of, tf_variable
from tb_gradhealth.record.tracing import outside, under_xla

MAX_TENSORS = 2000

DECADE = 10.0
"""A step with enormous gradients is kept anew when they are so many times as large as those of the one kept."""

Taken = tuple[int, Sequence[tuple[Any, Any]], Sequence[tuple[Any, Any]]]
"""Sequence number, inputs and variables of a kept step: pairs of a tensor or variable and its value."""


@dataclasses.dataclass(frozen=True)
class KeptStep:
    """A step whose gradients were not finite.

    Attributes:
      group: its name.
      step: its number.
      window: the step as recorded, one window over the rows of the schema; None of an exploded step, nor is its
        number known (-1).
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
      exploded: the gradients were finite and enormous.
    """

    group: str
    step: int
    window: Windows | None
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
    exploded: bool = False


OnBadStep = Callable[[KeptStep], Sequence[Cause]]


class StepKeeper:
    """Keeps the first bad step of one trace, and the one whose gradients are largest, if they are enormous.

    Args:
      variables: those whose gradients are recorded.
      more: further variables that the step depends on (a model's other weights).
      model: in `fit`, the model.
      withheld: the updates of bad steps are held back.
      eager_data: gives the batch of an eager step, by its sequence number.
      huge: the norm of one gradient from which on a finite step is kept.
    """

    def __init__(
        self,
        variables: Sequence[Any],
        more: Sequence[Any] = (),
        model: Any = None,
        withheld: bool = False,
        eager_data: Callable[[int], Any] | None = None,
        huge: float = math.inf,
    ) -> None:
        self._variables = list(variables)
        self._model = model
        self._withheld = withheld
        self._eager_data = eager_data or _nothing
        self._huge = huge
        found = {key_of(variable): tf_variable(variable) for variable in (*variables, *more)}
        self._sources = [variable for variable in found.values() if isinstance(variable, tf.Variable)]
        self._inputs: list[Any] = []
        self._gradients: Sequence[Any] | None = None
        self._loss: Any = None
        self._data: Any = None
        self._graph: Any = None
        self._why_not = ""
        self._bad: PutAside | None = None
        self._grown: PutAside | None = None
        self._limit: tf.Variable | None = None
        self._largest: Any = None
        self._loss_is_bad: Any = None
        self._frozen: dict[bool, Taken] = {}
        self._frozen_seq: dict[bool, int] = {}

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
        if self._graph is None:
            return None
        self._make_variables()
        self._largest = tf.reduce_max(norms)
        wanted = tf.greater(self._largest, self._limit)
        if tf.is_tensor(self._loss) and (self._loss.dtype.is_floating or self._loss.dtype.is_complex):
            self._loss_is_bad = tf.logical_not(tf.reduce_all(tf.math.is_finite(tf.cast(self._loss, tf.float32))))
            wanted = tf.logical_or(wanted, self._loss_is_bad)
        return wanted

    def keep(self, finite: Any, seq: Any) -> None:
        """Adds the branches to the function being traced.

        Args:
          finite: bool ``[]``, whether this step's gradients are.
          seq: int64 ``[]``, the step's sequence number in its ring.
        """
        compiled = under_xla()
        if not compiled and len(self._inputs) + len(self._sources) > MAX_TENSORS:
            self._why_not = f"the step has more than {MAX_TENSORS} inputs and variables"
            return
        self._make_variables()
        assert self._bad is not None and self._grown is not None and self._limit is not None
        bad = tf.logical_not(finite)
        if self._loss_is_bad is not None:
            bad = tf.logical_or(bad, self._loss_is_bad)
        self._keep_if(tf.logical_and(bad, tf.equal(self._bad.seq, 0)), self._bad, seq, compiled)
        if self._largest is not None:
            larger = tf.logical_and(tf.logical_not(bad), tf.greater(self._largest, self._limit))
            self._keep_if(larger, self._grown, seq, compiled)
            self._limit.assign(tf.where(larger, DECADE * self._largest, self._limit))
        if compiled and not held.want(self, self._sources):
            self._why_not = "the step is compiled by XLA, and its weights are too large to be held beside themselves"

    def _keep_if(self, wanted: Any, room: PutAside, seq: Any, compiled: bool) -> None:
        """A compiled step only notes its number; batch and weights are put aside around its call (`held`)."""
        if compiled:
            room.seq.assign(tf.where(wanted, tf.cast(seq, tf.int64), room.seq))
        else:
            tf.cond(wanted, lambda: room.keep((*self._inputs, *self._sources), seq), lambda: tf.constant(False))

    def _make_variables(self) -> None:
        if self._bad is None:
            outside(self._make_them)

    def _make_them(self) -> None:
        tensors = (*self._inputs, *self._sources)
        self._bad, self._grown = PutAside(tensors), PutAside(tensors)
        self._limit = tf.Variable(self._huge, dtype=tf.float32, trainable=False, name="gradhealth_huge")

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
        held_ = [weights.get(id(handle)) for source in self._sources for handle in handles_of(source)[:1]]
        for room in (self._bad, self._grown):
            assert room is not None
            room.keep_known([*inputs, *held_])

    def look_after_call(self, inputs: Sequence[Any], weights: Mapping[int, Any]) -> bool:
        """After an eager call of a compiled step: keeps the same if it was the first bad one, and says so."""
        for exploded, room in ((False, self._bad), (True, self._grown)):
            seq = 0 if room is None else int(room.seq.numpy())
            if seq != self._frozen_seq.get(exploded, 0):
                self._frozen_seq[exploded] = seq
                before = [
                    (source, weights[id(handle)])
                    for source in self._sources
                    for handle in handles_of(source)[:1]
                    if id(handle) in weights
                ]
                self._frozen[exploded] = (seq, list(zip(self._inputs, inputs, strict=False)), before)
        return False in self._frozen_seq

    def take(self, exploded: bool = False) -> "Taken | None":
        """Sequence number, inputs and variables of the kept step, or None as long as there is none. Host only."""
        if exploded in self._frozen:
            return self._frozen.pop(exploded)
        room = self._grown if exploded else self._bad
        taken = None if room is None else room.take()
        if taken is None:
            return None
        count = len(self._inputs)
        inputs = list(zip(self._inputs, taken[1][:count], strict=True))
        return taken[0], inputs, list(zip(self._sources, taken[1][count:], strict=True))

    def want_next(self) -> None:
        """The next step whose gradients are finite is kept, however large they are. Host only."""
        if self._limit is not None:
            self._limit.assign(-1.0)

    def exploded_step(self, group: str) -> "KeptStep | None":
        """The step whose gradients were enormous, if there was one."""
        taken = self.take(exploded=True)
        if taken is None:
            return None
        return KeptStep(
            group=group,
            step=-1,
            window=None,
            schema_variables=(),
            variables=self._variables,
            gradients=self._gradients,
            loss=self._loss,
            graph=self._graph,
            data=self._data,
            inputs=taken[1],
            before=taken[2],
            model=self._model,
            exploded=True,
        )

    def kept_step(self, group: str, window: Windows, schema_variables: Sequence[Any]) -> KeptStep:
        """The bad step whose window this is, with what was kept of it."""
        taken = self.take()
        why_not = self._why_not if taken is None else ""
        seq, inputs, before = taken or (0, (), ())
        return KeptStep(
            group=group,
            step=_first_bad_step(window),
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


def _first_bad_step(window: Windows) -> int:
    """Of a window of several steps the first that had a NaN or an Inf, if a gradient had."""
    if int(window.steps[0]) > 1:
        known = window.first_bad_step[0][window.first_bad_step[0] >= 0]
        if len(known):
            return int(known.min())
    return int(window.first_step[0])


def _nothing(seq: int) -> None:
    return None


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
        self.huge = math.inf
        """The norm of one gradient from which on a finite step is kept."""
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
        keeper = StepKeeper(variables, self.more_variables(), self.model, withheld, eager_data, self.huge)
        self._keepers.setdefault(group, []).append(keeper)
        return keeper

    def causes(self, group: str, bad: Windows, schema_variables: Sequence[Any]) -> list[Cause]:
        """What the callbacks say of the steps that were kept, or of the first bad step if none could be."""
        causes: list[Cause] = []
        for kept in self._new_steps(group, bad, schema_variables):
            for callback in self._callbacks:
                causes += callback(kept)
        return causes

    def exploded(self, group: str) -> list[KeptStep]:
        """The steps with enormous gradients that were kept; none if there are none, and then the next step is kept."""
        keepers = self._keepers.get(group, ())
        steps = [step for keeper in keepers if (step := keeper.exploded_step(group)) is not None]
        for keeper in keepers if not steps else ():
            keeper.want_next()
        return steps

    def _new_steps(self, group: str, bad: Windows, schema_variables: Sequence[Any]) -> list[KeptStep]:
        first = bad.select(slice(0, 1))
        keepers = self._keepers.get(group, ())
        steps = [keeper.kept_step(group, first, schema_variables) for keeper in keepers]
        found = [step for step in steps if step.before]
        if not found and group not in self._told:
            found = steps[-1:]
        self._told.add(group)
        return found
