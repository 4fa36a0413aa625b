"""Watches the operations that run eagerly in this thread, and makes a trace of them afterwards.

Promises: what runs is not changed; each operation costs a few microseconds (its tensors are kept by reference, its
place as a code object and an offset); nothing is looked at before somebody asks for the trace. Callbacks are per
thread, so operations of other threads (replicas of a distribution strategy) are not seen.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

from tb_gradhealth.explain import private, source
from tb_gradhealth.explain.nonfinite import gradient_calls, held
from tb_gradhealth.explain.nonfinite.trace import COMPUTED, CONSTANT, INPUT, Node, Trace, Value

Event = tuple[str, tuple[Any, ...], Any, Any, tuple[Any, ...]]
"""Type, inputs, attributes, outputs, place: (code, offset) of frames, innermost first; (None, layer) of a layer."""


class Recorder:
    """Records eager operations between `start` and `stop`; see the module.

    Args:
      deep: note every frame and the Keras layers, not only the frames out to the user's innermost.
      limit_bytes: how much the outputs of the noted operations may hold; what comes after is not noted.

    Attributes:
      events: what ran, in order.
      bytes: about how much the outputs of the noted operations hold.
      derivatives: (first event, last event + 1, type, inputs, outputs) of each operation differentiated.
    """

    def __init__(self, deep: bool = False, limit_bytes: int = sys.maxsize):
        self.events: list[Event] = []
        self.derivatives: list[tuple[int, int, str, Any, Any]] = []
        self._places = _deep_place if deep else _place
        self._limit = limit_bytes
        self.bytes = 0
        self._paused = False
        self.running = False

    def start(self) -> None:
        if not self.running:
            gradient_calls.open_()
            gradient_calls.listen(self._differentiated)
            private.add_op_callback(self._ran)
            held.note(True)
            self.running = True

    def stop(self) -> None:
        if self.running:
            self.running = False
            private.remove_op_callback(self._ran)
            held.note(False)
            gradient_calls.unlisten(self._differentiated)
            gradient_calls.close()

    def be_brief(self) -> None:
        """From now on only the frames out to the user's innermost are noted."""
        self._places = _place

    def pause(self, on: bool) -> None:
        """Takes nothing down while on."""
        self._paused = on

    def clear(self) -> None:
        self.events.clear()
        self.derivatives.clear()
        self.bytes = 0

    def forget(self, count: int) -> None:
        """Drops the first `count` events."""
        if count >= len(self.events):
            self.clear()
        elif count:
            del self.events[:count]
            self.derivatives = [
                (first - count, after - count, *rest) for first, after, *rest in self.derivatives if first >= count
            ]

    def __enter__(self) -> Recorder:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _ran(
        self, op_type: str, inputs: Any, attrs: Any, outputs: Any, op_name: str | None = None, graph: Any = None
    ) -> None:
        if graph is not None or outputs is None or self._paused or self.bytes > self._limit:
            return
        for tensor in outputs:
            self.bytes += tensor._num_elements() * 4
        self.events.append((op_type, inputs, attrs, outputs, self._places()))

    def _differentiated(self, original: Callable[..., Any], op_name: Any, *args: Any) -> Any:
        before = len(self.events)
        result = original(op_name, *args)
        self.derivatives.append((before, len(self.events), op_name, args[2], args[3]))
        return result

    def trace(self) -> tuple[Trace, dict[int, Value]]:
        """What was recorded, and the value of each tensor by its id."""
        return _Builder(self).build()


def forward_places(recorder: Recorder) -> list[tuple[str, tuple[Any, ...]]]:
    """Type and place of each operation that was differentiated, in the order of differentiation."""
    made: dict[int, int] = {}
    taken: dict[int, list[int]] = {}
    for index, (_, inputs, _, outputs, _) in enumerate(recorder.events):
        for tensor in outputs:
            made.setdefault(id(tensor), index)
        for tensor in inputs:
            taken.setdefault(id(tensor), []).append(index)
    found = []
    for first, _, name, inputs, outputs in recorder.derivatives:
        kind = str(name)
        candidates = [made[id(tensor)] for tensor in outputs or () if id(tensor) in made]
        candidates += [
            at for tensor in inputs or () if tensor is not None for at in reversed(taken.get(id(tensor), ()))
        ]
        fitting = (at for at in candidates if at < first and _kind(recorder.events[at][0]) == kind)
        at = next(fitting, None)
        found.append((kind, recorder.events[at][4] if at is not None else ()))
    return found


def _kind(kind: Any) -> str:
    return kind if isinstance(kind, str) else str(kind.decode())


class Source:
    """Knows the source line of an eager operation."""

    __slots__ = ("place",)

    def __init__(self, place: tuple[Any, ...]):
        self.place = place

    def stack(self) -> source.Stack:
        """The frames, outermost first."""
        return tuple(
            (code.co_filename, line_at(code, offset), code.co_name)
            for code, offset in reversed(self.place)
            if isinstance(code, types.CodeType)
        )

    def layers(self) -> list[Any]:
        """Keras layers whose call this is part of, outermost first."""
        return [layer for mark, layer in reversed(self.place) if mark is None]


class _Builder:
    def __init__(self, recorder: Recorder):
        self._recorder = recorder
        self._values: dict[int, Value] = {}
        self._taken_by: dict[int, list[Node]] = {}
        self._trace = Trace(budget=sys.maxsize)  # the recorder keeps the tensors anyway

    def build(self) -> tuple[Trace, dict[int, Value]]:
        spans = _spans(self._recorder.derivatives)
        for index, (kind, inputs, attrs, outputs, place) in enumerate(self._recorder.events):
            span = spans.get(index)
            node = Node(
                kind if isinstance(kind, str) else kind.decode(),
                tuple(self._value(tensor) for tensor in inputs),
                tuple(self._made(tensor) for tensor in outputs),
                (index,),
                source=Source(place),
                backward=span is not None,
                attrs=dict(zip(attrs[::2], attrs[1::2], strict=False)) if attrs else {},
            )
            self._trace.add(node)
            for tensor in inputs:
                self._taken_by.setdefault(id(tensor), []).append(node)
        found: dict[int, Node | None] = {}
        for index, span in spans.items():
            if id(span) not in found:
                found[id(span)] = self._forward(*span)
            self._trace.nodes[index].forward = found[id(span)]
        return self._trace, self._values

    def _value(self, tensor: Any) -> Value:
        value = self._values.get(id(tensor))
        if value is None:
            value = self._values[id(tensor)] = Value(tensor, _origin(tensor))
        return value

    def _made(self, tensor: Any) -> Value:
        value = self._values.get(id(tensor))
        if value is None or value.node is not None:
            value = self._values[id(tensor)] = Value(tensor, COMPUTED)
        return value

    def _forward(self, first: int, kind: str, inputs: Any, outputs: Any) -> Node | None:
        for tensor in outputs or ():
            value = self._values.get(id(tensor))
            if value is not None and value.node is not None and value.node.type == kind:
                return value.node
        known = {at: id(tensor) for at, tensor in enumerate(inputs or ()) if tensor is not None}
        taken = self._taken_by.get(next(iter(known.values()), 0), ())
        for node in reversed(taken):
            if (
                node.type == kind
                and node.index[0] < first
                and all(len(node.inputs) > at and id(node.inputs[at].tensor) == key for at, key in known.items())
            ):
                return node
        return None


def _spans(derivatives: list[tuple[int, int, str, Any, Any]]) -> dict[int, tuple[int, str, Any, Any]]:
    """Event → the innermost derivative it belongs to."""
    table: dict[int, tuple[int, str, Any, Any]] = {}
    for first, after, kind, inputs, outputs in derivatives:  # inner ones end, and so come, first
        span = (first, kind, inputs, outputs)
        for index in range(first, after):
            table.setdefault(index, span)
    return table


def _origin(tensor: Any) -> str:
    """A scalar nobody computed was written down in the program; anything larger came from outside."""
    shape = getattr(tensor, "shape", None)
    return CONSTANT if shape is not None and shape.rank == 0 else INPUT


_user_code: dict[types.CodeType, bool] = {}
_layer_calls: dict[types.CodeType, bool] = {}


def _is_user(code: types.CodeType) -> bool:
    known = _user_code.get(code)
    if known is None:
        known = _user_code[code] = source.is_user_file(code.co_filename)
    return known


def _place() -> tuple[Any, ...]:
    """The frames from the operation out to the user's innermost."""
    found: list[tuple[Any, Any]] = []
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        found.append((frame.f_code, frame.f_lasti))
        if _is_user(frame.f_code):
            break
        frame = frame.f_back
    return tuple(found)


def _deep_place() -> tuple[Any, ...]:
    """All frames, and the Keras layers among them."""
    found: list[tuple[Any, Any]] = []
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        found.append((frame.f_code, frame.f_lasti))
        if _is_layer_call(frame.f_code):
            found.append((None, frame.f_locals.get("self")))
        frame = frame.f_back
    return tuple(found)


def _is_layer_call(code: types.CodeType) -> bool:
    known = _layer_calls.get(code)
    if known is None:
        known = _layer_calls[code] = code.co_name == "__call__" and code.co_filename.replace("\\", "/").endswith(
            ("keras/src/layers/layer.py", "keras/src/engine/base_layer.py")
        )
    return known


def line_at(code: types.CodeType, offset: int) -> int:
    """The line of an instruction."""
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= offset < end and number is not None:
            return number
        if start > offset:
            break
    return line
