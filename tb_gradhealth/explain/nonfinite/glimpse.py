"""Eager steps that are not noted: what their derivatives and their calls of functions went through, without places.

Noting every operation costs too much where steps are short (`live`). A derivative, however, passes through Python
anyway, with the values that the forward pass left it; so of each step those are remembered by reference until it is
known to be well. Of a step that went bad the derivatives are computed once more, operation by operation, and places are
taken from the last step that was noted: a training loop runs the same operations again and again.

Promises: nothing is computed and nothing is read from the device while steps are well; at most about two steps are
held.
"""

from __future__ import annotations

import collections
import difflib
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tb_gradhealth.explain import private
from tb_gradhealth.explain.nonfinite import gradient_calls, held
from tb_gradhealth.explain.nonfinite.eager_record import Recorder, Source, forward_places
from tb_gradhealth.explain.nonfinite.trace import COMPUTED, CONSTANT, Node, Trace, Value

Outline = list[tuple[str, tuple[Any, ...]]]
"""Type and place of each operation that a step differentiates, in the order of differentiation."""

_LEAST = 64


class Glimpses:
    """Remembers derivatives and calls between `start` and `stop`."""

    def __init__(self) -> None:
        self._events: collections.deque[tuple[Any, ...]] = collections.deque(maxlen=_LEAST)
        self._outline: Outline = []
        self.running = False

    def outline(self, recorder: Recorder) -> None:
        """Takes the places of a step that was noted."""
        found = forward_places(recorder)
        if found:
            self._outline = found
        self._events = collections.deque(maxlen=max(_LEAST, 2 * len(self._outline)))

    def start(self) -> None:
        if not self.running:
            gradient_calls.open_()
            gradient_calls.listen(self._differentiated)
            held.listen(self._called)
            self.running = True

    def stop(self) -> None:
        if self.running:
            self.running = False
            held.listen(None)
            gradient_calls.unlisten(self._differentiated)
            gradient_calls.close()
            self.clear()

    def clear(self) -> None:
        self._events.clear()

    @property
    def seen(self) -> bool:
        return bool(self._events)

    def _differentiated(self, original: Callable[..., Any], op_name: Any, *args: Any) -> Any:
        result = original(op_name, *args)
        self._events.append((original, op_name, args, result))
        return result

    def _called(self, function: Any, args: Sequence[Any], results: Any) -> None:
        self._events.append((None, function.name.decode(), tuple(args), tuple(results or ())))

    def trace(self, gradients: Sequence[Any]) -> tuple[Trace, dict[int, Value], bool]:
        """What was remembered, as a trace; the value of each tensor by its id; whether the places are sure.

        Args:
          gradients: tensors that are going to be asked about.
        """
        events = list(self._events)
        self.stop()
        rebuilder = _Rebuilder(events, self._outline)
        return (*rebuilder.build(gradients), rebuilder.exact)


class _Rebuilder:
    def __init__(self, events: list[tuple[Any, ...]], outline: Outline):
        self._events = events
        kinds = [str(event[1]) for event in events if event[0] is not None]
        self._places, self.exact = _matched(kinds, outline)
        self._trace = Trace(budget=sys.maxsize)
        self._values: dict[int, Value] = {}
        self._open: list[tuple[Any, Value]] = []  # results of derivatives that nothing has taken yet

    def build(self, gradients: Sequence[Any]) -> tuple[Trace, dict[int, Value]]:
        derivatives = [event for event in self._events if event[0] is not None]
        forward = [self._forward(at, event) for at, event in enumerate(derivatives)]
        for node in reversed(forward):
            self._trace.add(node)
        at = 0
        for number, event in enumerate(self._events):
            if event[0] is None:
                self._call(number, event)
            else:
                self._derivative(number, event, forward[at])
                at += 1
        for gradient in gradients:
            self._sum_up(gradient, len(self._events))
        return self._trace, self._values

    def _value(self, tensor: Any, origin: str = COMPUTED) -> Value:
        if tensor is None:
            return Value(None)
        value = self._values.get(id(tensor))
        if value is None:
            value = self._values[id(tensor)] = Value(tensor, origin)
        return value

    def _forward(self, at: int, event: tuple[Any, ...]) -> Node:
        _, kind, (attrs, count, inputs, outputs, *_), _ = event
        given = (*(inputs or ()), *[None] * (count - len(inputs or ())))
        made = list(outputs or ())
        if made and any(tensor is None for tensor in made) and given and all(tensor is not None for tensor in given):
            try:
                again = private.execute(str(kind), given, attrs, len(made))
            except Exception:  # it cannot be run by itself; what it made is not known then
                again = made
            made = [old if old is not None else new for old, new in zip(made, again, strict=True)]
        return Node(
            str(kind),
            tuple(self._value(tensor) for tensor in given),
            tuple(Value(tensor) if id(tensor) not in self._values else self._values[id(tensor)] for tensor in made),
            (-1 - at,),
            source=Source(self._places[at]),
        )

    def _derivative(self, number: int, event: tuple[Any, ...], forward: Node) -> None:
        original, kind, args, results = event
        for tensor in args[4] or ():
            self._sum_up(tensor, number)
        recorder = Recorder()
        with recorder:
            again = original(kind, *args)
        for index, (op, inputs, attrs, outputs, _) in enumerate(recorder.events):
            self._trace.add(
                Node(
                    op if isinstance(op, str) else op.decode(),
                    tuple(self._value(tensor) for tensor in inputs),
                    tuple(self._value(tensor) for tensor in outputs),
                    (number, index),
                    source=forward.source,
                    forward=forward,
                    backward=True,
                    attrs=dict(zip(attrs[::2], attrs[1::2], strict=False)) if attrs else {},
                )
            )
        for old, new in zip(_tensors(results), _tensors(again), strict=False):
            if old is not None and new is not None:
                self._values[id(old)] = self._value(new)
                self._open.append((old, self._values[id(old)]))

    def _call(self, number: int, event: tuple[Any, ...]) -> None:
        _, name, args, results = event
        outputs = tuple(self._value(tensor) for tensor in results)
        node = Node(name, tuple(self._value(arg, _origin(arg)) for arg in args), outputs, (number,), source=Source(()))
        self._trace.add(node)

    def _sum_up(self, tensor: Any, number: int) -> None:
        """What reaches a derivative along several ways is summed where nobody sees it: of results with its shape."""
        tensor = getattr(tensor, "values", tensor)
        if tensor is None:
            return
        if id(tensor) in self._values:
            self._open = [(old, value) for old, value in self._open if old is not tensor]
            return
        shape, dtype = getattr(tensor, "shape", None), getattr(tensor, "dtype", None)
        parts = [(old, value) for old, value in self._open if old.shape == shape and old.dtype == dtype]
        value = self._values[id(tensor)] = Value(tensor, COMPUTED if parts else CONSTANT)
        if parts:
            self._open = [item for item in self._open if item not in parts]
            inputs = tuple(part for _, part in parts)
            self._trace.add(Node("AddN", inputs, (value,), (number,), source=Source(()), backward=True))


def _tensors(results: Any) -> list[Any]:
    return [getattr(item, "values", item) for item in (results if isinstance(results, list | tuple) else [results])]


def _origin(arg: Any) -> str:
    return CONSTANT if getattr(getattr(arg, "shape", None), "rank", None) == 0 else "input"


def _matched(kinds: list[str], outline: Outline) -> tuple[list[tuple[Any, ...]], bool]:
    """The place of each operation by its like in a step that was noted, () where it has none; whether all fit."""
    known = [kind for kind, _ in outline]
    found: list[tuple[Any, ...]] = [()] * len(kinds)
    if kinds[len(kinds) - len(known) :] == known:  # what is remembered may begin in the step before
        found[len(kinds) - len(known) :] = [place for _, place in outline]
        return found, True
    for block in difflib.SequenceMatcher(None, kinds, known, autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            found[block.a + offset] = outline[block.b + offset][1]
    return found, False
