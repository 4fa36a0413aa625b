"""One `fit` call being recorded: hooks set before the train function is made, taken off however `fit` ends.

Imports no Keras: it works on the attributes that Keras 3 and tf_keras models share.
"""

import dataclasses
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.record.applied import AppliedGradients, Options
from tb_gradhealth.record.clipping import Clipping
from tb_gradhealth.record.explainer import Explainer
from tb_gradhealth.record.model_step import ModelStep
from tb_gradhealth.record.optimizer_facts import group_name, is_optimizer
from tb_gradhealth.record.places import replica_count
from tb_gradhealth.record.recorder import CAPACITY, Recorder
from tb_gradhealth.record.schema import Entry, GroupFacts, key_of
from tb_gradhealth.record.withholding import RECORD, STOP

_END_OF_DATA = (StopIteration, tf.errors.OutOfRangeError)


class KerasSession:
    """Records the `fit` calls of one model, from `begin` to `end` of each.

    Args:
      model: of Keras 3 or tf_keras, compiled.
      recorder: takes the steps.
      options: how.

    What was traced in one `fit` is used again in the next, if nothing that it depends on has changed.
    """

    def __init__(self, model: Any, recorder: Recorder, options: Options) -> None:
        self.model = model
        self._recorder = recorder
        self._options = options
        self._explainer: Explainer | None = None
        self._step = ModelStep(model)
        self._applied: list[AppliedGradients] = []
        self._signature: tuple[Any, ...] = ()
        self._train_function: Any = None
        self._seen_function: Any = None
        self._former_train_function: Any = None
        self._thread = 0
        self.ended = True

    def begin(self, explainer: Explainer | None) -> None:
        """Hooks the model.

        Args:
          explainer: is asked about ill gradients; None to ask nobody.
        """
        self.ended = False
        self._thread = threading.get_ident()
        self._explainer = explainer
        self._steps_per_call = steps_per_call(self.model)
        self._told_others = False
        self._recorder.evidence.model = self.model
        self._recorder.evidence.model_step = self._step
        self._recorder.evidence.more_variables = lambda: self.model.variables
        self._step.hook()
        signature = signature_of(self.model)
        if signature != self._signature:
            self._train_function = None
            with self.model.distribute_strategy.scope():
                self._applied = [self._applied_of(name, optimizer) for name, optimizer in optimizers_of(self.model)]
        for applied in self._applied:
            applied.hook(explainer)
        self._former_train_function = getattr(self.model, "train_function", None)
        object.__setattr__(self.model, "train_function", self._train_function)

    def _applied_of(self, name: str, optimizer: Any) -> AppliedGradients:
        facts = GroupFacts(
            "keras.fit",
            optimizer=type(getattr(optimizer, "inner_optimizer", optimizer)).__name__,
            every=self._recorder.every,
            clipping=Clipping.of(optimizer),
            replicas=replica_count(),
        )
        group = self._recorder.group(name, facts)
        options = dataclasses.replace(self._options, capacity=max(CAPACITY, 2 * self._steps_per_call))
        changed = () if self._options.on_nonfinite == RECORD or facts.replicas > 1 else moving_weights(self.model)
        return AppliedGradients(optimizer, self._recorder, group, options, self._step, changed)

    @property
    def running(self) -> bool:
        """Whether another thread is in a `fit` of this model."""
        others = {thread.ident for thread in threading.enumerate()} - {threading.get_ident()}
        return not self.ended and self._thread in others

    def watch_calls(self) -> None:
        """Has each call of the train function seen; again if somebody made a new one."""
        function = self.model.train_function
        if function is not None and function is not self._seen_function:
            self._train_function = function
            self._seen_function = self._seen(function)
            object.__setattr__(self.model, "train_function", self._seen_function)

    def end(self) -> None:
        """Takes all hooks off. A second call does nothing."""
        if self.ended:
            return
        self.ended = True
        for applied in self._applied:
            applied.remove()
        self._step.remove()
        present = self.model.train_function
        reusable = present is self._seen_function and self._train_function is not None
        self._signature = signature_of(self.model) if reusable else ()  # now that everything has been built
        if present is None or present is self._seen_function or present is self._train_function:
            object.__setattr__(self.model, "train_function", self._former_train_function)
        self._seen_function = self._former_train_function = None

    def _seen(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def train_function(*args: Any, **kwargs: Any) -> Any:
            try:
                logs = function(*args, **kwargs)
            except _END_OF_DATA:
                raise
            except BaseException as error:
                if self._explainer is not None:
                    self._explainer.failed(error)
                    self._explainer.close()  # Keras does not tell a callback that training failed
                self._train_function = None  # it may have failed while it was being traced
                self.end()
                self._recorder.flush()
                raise
            self._after_call()
            return logs

        return train_function

    def _after_call(self) -> None:
        if not self._told_others:
            self._told_others = True
            self._tell_others()
        looked = self._recorder.tick(self._steps_per_call, max(CAPACITY, 2 * self._steps_per_call))
        if looked:
            self.stop_if_told()

    def stop_if_told(self) -> None:
        """Ends the training if a step told so (`on_nonfinite="stop"`). Reads the device: call it after a look only."""
        if self._options.on_nonfinite != STOP or self.ended:
            return
        if not self.model.stop_training and any(applied.stopped() for applied in self._applied):
            self.model.stop_training = True
            print(
                "tb_gradhealth: gradients are not finite; training is stopped with the weights of the last good step.",
                file=sys.stderr,
                flush=True,
            )

    def _tell_others(self) -> None:
        """Which of the model's variables no optimizer was given, now that every optimizer has been seen once."""
        handed = {key for applied in self._applied for key in applied.handed}
        others = [
            Entry(variable, role)
            for variable, role in variables_with_roles(self.model)
            if key_of(variable) not in handed
        ]
        if self._applied:
            self._applied[0].group.set_others(others)


def signature_of(model: Any) -> tuple[Any, ...]:
    """What a traced train function depends on: if it is the same again, the function can be used again."""
    names = ("_compile_loss", "_compile_metrics", "compiled_loss", "compiled_metrics", "_run_eagerly", "run_eagerly")
    compiled = [vars(model).get(name) for name in names]
    optimizers = [(name, _Same(optimizer)) for name, optimizer in optimizers_of(model)]
    variables = tuple(key_of(variable) for variable in model.trainable_variables) if _is_built(model) else ()
    jit = getattr(model, "jit_compile", None)
    return (tuple(_Same(part) for part in compiled), tuple(optimizers), variables, steps_per_call(model), jit)


class _Same:
    """Equal only to itself; keeps what it holds alive, so that no other can take its place."""

    def __init__(self, held: Any) -> None:
        self._held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and (self._held is other._held)

    __hash__ = None  # type: ignore[assignment]


def _is_built(model: Any) -> bool:
    return bool(getattr(model, "built", True))


def steps_per_call(model: Any) -> int:
    """Steps that one call of the model's train function runs."""
    try:
        return max(int(model.steps_per_execution), 1)
    except (AttributeError, TypeError, ValueError):
        return 1


def optimizers_of(model: Any) -> list[tuple[str, Any]]:
    """The model's optimizers with a name for each: the compiled one first, then those kept as attributes (a GAN's)."""
    main = getattr(model, "optimizer", None)
    found: dict[int, tuple[str, Any]] = {}
    if is_optimizer(main):
        found[id(main)] = (group_name(main), main)
    for name, value in vars(model).items():
        if is_optimizer(value) and id(value) not in found:
            found[id(value)] = (name.strip("_"), value)
    inner = {id(getattr(optimizer, "inner_optimizer", None)) for _, optimizer in found.values()}
    return [entry for key, entry in found.items() if key not in inner]


def variables_with_roles(model: Any) -> Iterator[tuple[Any, "pb.Variable.Role"]]:
    """The model's variables that could be trained: those that are, then those that are frozen."""
    trainable = {key_of(variable) for variable in model.trainable_variables}
    for variable in model.trainable_variables:
        yield variable, pb.Variable.NOT_HANDED_OVER
    for layer in flat_layers(model):
        for variable in (
            getattr(layer, "_trainable_variables", None) or getattr(layer, "_trainable_weights", None) or ()
        ):
            if key_of(variable) not in trainable:
                trainable.add(key_of(variable))
                yield variable, pb.Variable.FROZEN


def moving_weights(model: Any) -> list[Any]:
    """Weights that the forward pass changes: not trainable, floating (batch normalisation's moving statistics)."""
    return [v for v in model.non_trainable_weights if tf.as_dtype(v.dtype).is_floating]


def flat_layers(model: Any) -> list[Any]:
    """The model and all layers inside it."""
    flatten = getattr(model, "_flatten_layers", None)
    return list(flatten()) if callable(flatten) else [model]


def calling_list() -> Any:
    """The callback list that is calling, two frames up, or None: it lives as long as the `fit` call."""
    frame = sys._getframe(2)
    return frame.f_locals.get("self")


def go_first(callback_list: Any, callback: Any) -> None:
    """Puts a callback before all others, so that these find in `logs` what it adds, in whatever order they came."""
    present = getattr(callback_list, "callbacks", None)
    if isinstance(present, list) and any(other is callback for other in present):
        callback_list.callbacks = [callback, *(other for other in present if other is not callback)]


def end_with(owner: Any, session: KerasSession) -> None:
    """Ends the session when `owner` is gone: `fit` was left by an exception that no train function raised."""
    try:
        weakref.finalize(owner, _end, weakref.ref(session))
    except TypeError:
        return


def _end(reference: Callable[[], KerasSession | None]) -> None:
    session = reference()
    if session is not None:
        session.end()
