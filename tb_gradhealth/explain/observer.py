"""Watches tapes and gradient calls in this process while anybody wants explanations.

Promises: what TensorFlow does and returns is not changed; whatever fails in here is swallowed; the hooks are on while
at least one watch is open and off afterwards. In a graph nothing is noted but the call itself. In eager mode the first
`FIRST` gradient calls, and those after a bad one, are recorded with every operation before them; all others cost one
comparison.
"""

from __future__ import annotations

import collections
import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from tb_gradhealth.explain import private, source
from tb_gradhealth.explain.calls import GradientCall, keys_of_sources, sources_of, targets_of
from tb_gradhealth.explain.eager_recorder import LIMIT, CustomGradient, EagerRecorder
from tb_gradhealth.explain.tapes import EAGER, Tapes, where_now
from tb_gradhealth.explain.targets import targets
from tb_gradhealth.explain.variables import keys_of

FIRST = 2
"""Gradient calls recorded after opening: a script of one step gets its answer, too; of state kept from one step to the
next two steps must be seen."""

AGAIN = 3
"""Gradient calls recorded after a bad one of which nothing is known."""

REMEMBERED = 24
"""Calls that are remembered."""

FailureListener = Callable[[GradientCall], None]


class Observer:
    """The state shared by all open watches. One per process: `observer`."""

    def __init__(self) -> None:
        self.recorder = EagerRecorder()
        self.calls: collections.deque[GradientCall] = collections.deque(maxlen=REMEMBERED)
        self.tapes = Tapes()
        self.failure_listeners: list[FailureListener] = []
        self.step_listeners: list[Callable[[BaseException], None]] = []
        self.remembered = 0
        """How many calls were remembered so far."""
        self._left = 0
        self._functions = 0
        self._busy: list[GradientCall] = []
        self._ended = 0
        self._thread = 0

    # ---- recording eager steps ----

    def arm(self, calls: int) -> None:
        """Records the next gradient calls of this thread."""
        if not tf.executing_eagerly():
            return
        self._left = max(self._left, calls)
        if not self.recorder.running:
            if self.recorder.position > LIMIT // 2:
                self.forget()
            self._functions = 0
            self._thread = threading.get_ident()
            self.recorder.on_function = self._function_called
            self.recorder.start()

    def disarm(self) -> None:
        """Stops recording. What was recorded stays, its values do not."""
        if self.recorder.running:
            self.recorder.silent = True
            if threading.get_ident() == self._thread:
                self.recorder.stop()
        self.recorder.forget_values()
        self._left = 0

    def forget(self) -> None:
        """Lets go of all that was recorded eagerly."""
        self.recorder.clear()
        self._ended = 0
        kept = [call for call in self.calls if not call.eager]
        for call in kept:
            call.eager_position = 0
        self.calls.clear()
        self.calls.extend(kept)

    def clear(self) -> None:
        self.disarm()
        self.calls.clear()
        self.recorder.clear()
        self._ended = 0
        self.tapes = Tapes()
        targets.clear()

    def _function_called(self) -> None:
        """A compiled function ran: a loop of these never opens a tape in eager mode, and so must end here."""
        if self._busy or not any(not call.eager for call in self.calls):
            return
        self._functions += 1
        if self._functions > 2 * FIRST:
            self.recorder.silent = True
            if private.is_only_op_callback():
                self.disarm()

    def _step_begins(self) -> None:
        """An eager tape opens and no other is open."""
        if self.recorder.running and not self._busy:
            if self._left <= 0 or self.recorder.silent:
                self.disarm()
            elif self._ended:
                self.recorder.forget_values()

    @property
    def recording(self) -> bool:
        """Whether this very thread is being recorded."""
        return self.recorder.running and threading.get_ident() == self._thread

    # ---- tapes ----

    def tape_on(self, tape: Any) -> None:
        where, graph = where_now()
        if where == EAGER:
            if not self.tapes.open:
                self._step_begins()
            self.tapes.open += 1
            if not self.recording:
                return
        self.tapes.on(tape, where, self._position(graph), private.watches_all(tape))

    def tape_off(self, tape: Any, by: str) -> None:
        where, graph = where_now()
        if where == EAGER:
            self.tapes.open = max(0, self.tapes.open - 1)
        self.tapes.off(tape, where, self._position(graph), by)

    def _position(self, graph: Any) -> int:
        return self.recorder.position if graph is None else int(graph.version)

    # ---- calls ----

    @contextlib.contextmanager
    def call(self, tape: Any, method: str, args: tuple[Any, ...], named: dict[str, Any]) -> Iterator[Any]:
        """Around a call of `gradient`: yields a function that takes its results."""
        call = None
        with contextlib.suppress(Exception):
            call = self._begin(tape, method, args, named)
        if call is None:
            yield _ignore
            return

        def answered(results: Any) -> None:
            if method == "gradient":
                with contextlib.suppress(Exception):
                    targets.note(args[0] if args else named.get("target"), results)
            self._answered(call, tape, results)

        self._busy.append(call)
        try:
            yield answered
        except Exception as error:
            call.error = error
            with contextlib.suppress(Exception):
                self._failed(call)
            raise
        finally:
            self._busy.remove(call)

    def _begin(self, tape: Any, method: str, args: tuple[Any, ...], named: dict[str, Any]) -> GradientCall | None:
        where, graph = where_now()
        if where == EAGER and not self.recording:
            return GradientCall(EAGER, None, -1, None, [], [], [], private.extract_stack(), method=method)
        target = args[0] if args else named.get("target")
        sources = sources_of(args[1] if len(args) > 1 else named.get("sources", named.get("source")))
        story = self.tapes.story(tape) if tape is not None else None
        return GradientCall(
            where,
            graph,
            self._position(graph),
            story,
            targets_of(target),
            sources,
            keys_of_sources(sources, graph),
            private.extract_stack(),
            begins=self._previous(where),
            eager_position=self.recorder.position,
            others=self.tapes.others(story, where) if story is not None else [],
            zeros=_wants_zeros(args, named),
            method=method,
        )

    def _previous(self, where: int) -> int:
        """How much ran before the last call from the same line: what belongs to earlier steps."""
        if where != EAGER:
            return 0
        here = source.innermost(source.stack_of(private.extract_stack()))
        for call in reversed(self.calls):
            if call.eager and call.position >= 0 and here is not None and source.innermost(call.stack) == here:
                return call.position
        return 0

    def _answered(self, call: GradientCall, tape: Any, results: Any) -> None:
        with contextlib.suppress(Exception):
            if call.position < 0:
                return
            call.answered(results)
            if tape is not None:
                call.watched_variables = tuple(tape.watched_variables())
                call.watched = frozenset(key for variable in call.watched_variables for key in keys_of(variable))
            self._remember(call)

    def _remember(self, call: GradientCall) -> None:
        outer = self._busy[-2] if len(self._busy) > 1 else None
        if outer is not None:
            outer.inner.append(call)
        self.remembered += 1
        call.number = self.remembered
        self.calls.append(call)
        if call.eager and outer is None:
            self._left -= 1
            self._ended = self.recorder.position

    def _failed(self, call: GradientCall) -> None:
        if len(self._busy) > 1:  # the outer call fails with the same error
            return
        for listener in list(self.failure_listeners):
            listener(call)

    def step_failed(self, error: BaseException) -> None:
        """A compiled function, or a session, raised while it ran."""
        if isinstance(error, tf.errors.OutOfRangeError):
            return
        for listener in list(self.step_listeners):
            with contextlib.suppress(Exception):
                listener(error)

    def find(self, variable: Any, gradient: Any, none: bool) -> GradientCall | None:
        """The latest call that answered this for this variable; for None, any call that answered None for it."""
        from tb_gradhealth.explain.calls import result_key

        fallback = None
        key = None if gradient is None else result_key(gradient)
        for call in reversed(self.calls):
            place = call.source_of(variable)
            if place is None or place >= len(call.none) or call.none[place] != none:
                continue
            if none or (type(key) is type(call.results[place]) and key == call.results[place]):
                return call
            fallback = fallback or call
        return fallback

    # ---- custom gradients ----

    def custom_gradient(self, name: Any, outputs: Any, inputs: Any, backward: Any) -> Any:
        """The backward function to record for a custom gradient: it notes for what it answers None."""
        function = private.gradient_function_of_custom(backward)
        if function is None:
            return backward
        gradient = CustomGradient(str(name), function)
        if tf.executing_eagerly():
            if not self.recording:
                return backward
            self.recorder.custom(list(outputs), list(inputs), gradient)
        else:
            _note_on_graph(outputs, gradient, private.number_of_results(backward))

        def noting(*args: Any, **named: Any) -> Any:
            answers = backward(*args, **named)
            with contextlib.suppress(Exception):
                gradient.none = tuple(place for place, answer in enumerate(answers) if answer is None)
            return answers

        return noting


_CUSTOM = "_gradhealth_custom_gradients"


def _note_on_graph(outputs: Any, gradient: CustomGradient, results: int) -> None:
    op = outputs[0].op
    notes = getattr(op.graph, _CUSTOM, None)
    if notes is None:
        notes = {}
        setattr(op.graph, _CUSTOM, notes)
    notes[op.name] = (gradient, results)


def custom_gradients_of(graph: Any) -> dict[str, tuple[CustomGradient, int]]:
    """Custom gradients noted in a graph: name of the operation → the gradient and its number of results."""
    found: dict[str, tuple[CustomGradient, int]] = getattr(graph, _CUSTOM, {})
    return found


def _ignore(results: Any) -> None:
    return None


def _wants_zeros(args: tuple[Any, ...], named: dict[str, Any]) -> bool:
    value = named.get("unconnected_gradients", args[3] if len(args) > 3 else None)
    return str(getattr(value, "value", value)).lower() == "zero"


def caller_name(depth: int = 2) -> str:
    """Name of the function that called the caller."""
    return sys._getframe(depth).f_code.co_name


observer = Observer()
