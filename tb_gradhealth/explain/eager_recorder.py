"""What runs eagerly in this thread, noted as it runs: operations, reads of variables, conversions to NumPy.

Promises: what runs is not changed; an operation costs some ten microseconds while the recorder is on and nothing while
it is off; tensors are kept only up to `keep_bytes`, everything else is numbers and a stack that is read when somebody
asks. Beyond `LIMIT` events the recorder falls silent by itself. Two things TensorFlow tells nobody about are caught
with small patches that come off with the recorder: a variable read by the fast path (`w * x`) and `tensor.numpy()` with
all its relatives. NumPy functions that read a tensor's buffer cannot be seen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tb_gradhealth.explain import private, source

LIMIT = 150_000
"""Events after which the recorder stops noting."""

KEEP_BYTES = 64 * 2**20
"""How much it keeps of the values that flow through a step."""

_FUNCTIONS = ("__inference_", "__forward_", "__backward_")
_SHOWN = frozenset({"numpy_text", "value_text", "__format__", "__repr__", "__str__"})


class Event:
    """Something that ran.

    Attributes:
      kind: TensorFlow's type of the operation; ``"Numpy"`` for a conversion; ``"Custom"`` for a custom gradient.
      inputs, outputs: ids of tensors.
      traceback: the stack, as `op.traceback`.
      scope: name scope, by which its Keras layer is found.
      extra: the function that was called; how a tensor was converted; a custom gradient's `CustomGradient`.
    """

    __slots__ = ("attrs", "extra", "inputs", "kind", "outputs", "position", "scope", "traceback")

    def __init__(
        self,
        kind: str,
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
        traceback: Any,
        scope: str = "",
        extra: Any = None,
        attrs: Any = None,
    ):
        self.kind = kind
        self.inputs = inputs
        self.outputs = outputs
        self.traceback = traceback
        self.scope = scope
        self.extra = extra
        self.attrs = attrs
        self.position = 0
        """Its place among the events, once they were laid out."""


class CustomGradient:
    """A recorded `tf.custom_gradient`: the user's gradient function, and for which inputs it answered None."""

    def __init__(self, name: str, function: Any):
        self.name = name
        self.function = function
        self.none: tuple[int, ...] = ()


class EagerRecorder:
    """Notes what runs between `start` and `stop`, in the thread that calls `start`."""

    def __init__(self, keep_bytes: int = KEEP_BYTES):
        self.events: list[Event] = []
        self.carries: dict[int, bool] = {}
        """id of a tensor → whether a derivative can flow through it."""
        self.shapes: dict[int, Any] = {}
        self.handles: set[int] = set()
        """ids of resource handles."""
        self.kept: dict[int, Any] = {}
        """id of a tensor → the tensor, within the budget."""
        self._keep_bytes = keep_bytes
        self._kept_bytes = 0
        self._reads: list[Any] = []
        self.on_function: Callable[[], None] | None = None
        self._patches: list[Callable[[], None]] = []
        self.running = False
        self.silent = False
        """Takes nothing down although it runs: it could not be stopped from where that was decided."""

    @property
    def position(self) -> int:
        """The number of events so far: a place in time."""
        return len(self.events)

    def start(self) -> None:
        if self.running:
            return
        self.running, self.silent = True, False
        private.add_op_callback(self._ran)
        self._patches = [_watch_reads(self._reads), _watch_conversions(self)]

    def stop(self) -> None:
        if not self.running:
            return
        self.running = False
        private.remove_op_callback(self._ran)
        for undo in self._patches:
            undo()
        self._patches = []
        self._reads.clear()

    def forget_values(self) -> None:
        """Lets go of the tensors; what ran stays known."""
        self.kept.clear()
        self._kept_bytes = 0

    def clear(self) -> None:
        self.events.clear()
        self.carries.clear()
        self.shapes.clear()
        self.handles.clear()
        self.forget_values()

    # ---- noting ----

    def _ran(self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        if graph is not None or self.silent or len(self.events) >= LIMIT:
            return
        try:
            self._note(op_type if isinstance(op_type, str) else op_type.decode(), inputs, attrs, outputs or ())
        except Exception:  # a kind of value that was not thought of: better a gap than a broken step
            pass
        finally:
            self._reads.clear()

    def _note(self, kind: str, inputs: Any, attrs: Any, outputs: Any) -> None:
        traceback = private.extract_stack()
        if self._reads:
            self._note_reads(inputs, traceback)
        extra = private.function_being_called() if kind.startswith(_FUNCTIONS) else None
        event = Event(
            kind,
            tuple(self._see(tensor) for tensor in inputs),
            tuple(self._see(tensor) for tensor in outputs),
            traceback,
            private.name_scope(),
            extra,
            attrs,
        )
        self.events.append(event)
        if extra is not None and self.on_function is not None:
            self.on_function()

    def _see(self, tensor: Any) -> int:
        number: int = tensor._id
        if number not in self.carries:
            self.carries[number] = private.is_trainable(tensor)
            self.shapes[number] = tensor.shape
            if tensor.dtype == "resource":
                self.handles.add(number)
            size = _nbytes(tensor)
            if self._kept_bytes + size <= self._keep_bytes:
                self._kept_bytes += size
                self.kept[number] = tensor
        return number

    def _note_reads(self, inputs: Any, traceback: Any) -> None:
        """Tensors that nobody made are the variables whose handles were just looked up, in order."""
        waiting = [
            variable
            for place, variable in enumerate(self._reads)
            if not any(variable is other for other in self._reads[:place])
        ]
        for tensor in inputs:
            if not waiting:
                return
            if tensor._id in self.carries or tensor.dtype == "resource":
                continue
            for at, variable in enumerate(waiting):
                if variable.dtype.base_dtype == tensor.dtype and variable.shape.is_compatible_with(tensor.shape):
                    del waiting[at]  # by place: variables compare element by element
                    handle = self._see(variable.__dict__["_handle"])
                    self.events.append(Event("ReadVariableOp", (handle,), (self._see(tensor),), traceback))
                    break

    def converted(self, tensor: Any, how: str) -> None:
        """A tensor went to NumPy or to a Python number."""
        if len(self.events) < LIMIT and not self.silent and how not in _SHOWN:
            traceback = private.extract_stack()
            self.events.append(Event("Numpy", (self._see(tensor),), (), traceback, private.name_scope(), how))

    def custom(self, outputs: Any, inputs: Any, gradient: CustomGradient) -> None:
        """A custom gradient was recorded."""
        if len(self.events) < LIMIT and not self.silent:
            traceback = private.extract_stack()
            seen_in = tuple(self._see(tensor) for tensor in inputs)
            seen_out = tuple(self._see(tensor) for tensor in outputs)
            self.events.append(Event("Custom", seen_in, seen_out, traceback, private.name_scope(), gradient))


def _nbytes(tensor: Any) -> int:
    try:
        return int(tensor.shape.num_elements() or 0) * int(tensor.dtype.size)
    except (AttributeError, TypeError, ValueError):
        return 0


class _HandleWatch:
    """Stands in for the attribute `_handle` of TensorFlow's variables and tells who is looked up."""

    def __init__(self, told: list[Any]):
        self._told = told

    def __get__(self, variable: Any, owner: Any = None) -> Any:
        if variable is None:
            return self
        if len(self._told) < 64:
            self._told.append(variable)
        try:
            return variable.__dict__["_handle"]
        except KeyError:
            raise AttributeError("_handle") from None

    def __set__(self, variable: Any, handle: Any) -> None:
        variable.__dict__["_handle"] = handle


def _watch_reads(told: list[Any]) -> Callable[[], None]:
    owner = private.resource_variable_class()
    if owner is None or "_handle" in owner.__dict__:
        return lambda: None
    owner._handle = _HandleWatch(told)

    def undo() -> None:
        if isinstance(owner.__dict__.get("_handle"), _HandleWatch):
            del owner._handle

    return undo


def _watch_conversions(recorder: EagerRecorder) -> Callable[[], None]:
    owner = private.eager_tensor_class()
    if owner is None:
        return lambda: None
    original = owner._numpy

    def _numpy(tensor: Any) -> Any:
        try:
            caller = sys._getframe(1)
            if caller.f_back is not None and source.is_user_file(caller.f_back.f_code.co_filename):
                recorder.converted(tensor, caller.f_code.co_name)
        except Exception:  # never in the way of the conversion itself
            pass
        return original(tensor)

    owner._numpy = _numpy

    def undo() -> None:
        if owner.__dict__.get("_numpy") is _numpy:
            owner._numpy = original

    return undo
