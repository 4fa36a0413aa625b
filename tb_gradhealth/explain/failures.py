"""A derivative that raised: the exception of a gradient call, or of a step that ran, → causes.

Such a step yields no gradients at all and is not recorded, so its causes are of a kind of their own, ``"error"``.
"""

import dataclasses
import re
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.explain import private, reasons, source, variables
from tb_gradhealth.explain.calls import GradientCall
from tb_gradhealth.explain.creation import Creations
from tb_gradhealth.explain.none import Explainer
from tb_gradhealth.explain.observer import Observer
from tb_gradhealth.explain.program import Op
from tb_gradhealth.explain.source import Place, innermost, stack_of
from tb_gradhealth.format.causes import Cause

_UNREGISTERED = re.compile(r"no entry for: (\w+)|op type: (\w+)\)")
_NOT_VECTORISED = re.compile(r"No pfor vectorization defined for (\w+)|No converter defined for (\w+)")
_NODE = re.compile(r"\{\{node ([^}\s]+)\}\}|node '([^']+)'|\[\[?\{?\{?node ([^}\s\]]+)")


def of_call(call: GradientCall, observer: Observer) -> list[Cause]:
    """Causes of a gradient call that raised `call.error`; the line that raised where nothing better is known."""
    try:
        found = _known(call, observer)
    except Exception:  # what is below never fails
        found = []
    return [_with_error(cause, call) for cause in found or [_raised(call)]]


def _known(call: GradientCall, observer: Observer) -> list[Cause]:
    error, message = call.error, str(call.error)
    here = innermost(call.stack)
    names = _names(call)
    if isinstance(error, RuntimeError) and "can only be used to compute one set" in message:
        return [_cause("tape_used_twice", "tape", here, names)]
    if isinstance(error, TypeError) and "received None" in message:
        return [_cause("none_given", "tape", here, names)]
    if isinstance(error, LookupError) or "gradient registry has no entry" in message:
        found = _UNREGISTERED.search(message)
        op_type = next((group for group in found.groups() if group), "") if found else ""
        if op_type:
            return [_unregistered(call, observer, op_type, names)]
        if "explicitly disabled" in message:
            return [_disabled(call, observer, message, names)]
    if "pfor" in message and (found := _NOT_VECTORISED.search(message)) is not None:
        return [_cause("not_vectorised", found.group(1) or found.group(2), here, names, call.method)]
    if isinstance(error, tf.errors.OpError):
        return _failed(call, observer, error, names)
    return []


def _raised(call: GradientCall) -> Cause:
    """The user's line in which the exception arose (in a gradient function of his), else that of the gradient call."""
    here = innermost(call.stack)
    frames = traceback.extract_tb(call.error.__traceback__) if call.error is not None else []
    inside = innermost([(frame.filename, frame.lineno or 0, frame.name) for frame in frames])
    own = inside is not None and inside != here
    what = _short(str(call.error)) or type(call.error).__name__
    place = inside if own else here
    return _cause("gradient_call_raised", "custom_gradient" if own else call.method, place, _names(call), what,
                  "backward", "certain" if own else "likely")  # fmt: skip


def _with_error(cause: Cause, call: GradientCall) -> Cause:
    place = innermost(call.stack)
    what = call.method if call.method.startswith("tf.") else f"tape.{call.method}"
    return dataclasses.replace(cause, evidence=(_said(what, place, call.error), *cause.evidence))


def _said(what: str, place: Place | None, error: BaseException | None) -> str:
    where = f" in {source.shown(place.file)}:{place.line}" if place is not None else ""
    return f"{what}{where} raised {type(error).__name__}: {_short(str(error)).rstrip('.')}."


def _disabled(call: GradientCall, observer: Observer, message: str, names: tuple[str, ...]) -> Cause:
    """An operation whose gradient has no gradient of its own: a second derivative reached it."""
    op = _op_of_type(call, observer, "PreventGradient")
    place = Creations(call.stack).place_of(op) if op is not None else None
    why = _short(message.partition("Reason:")[2]) or "it has no second derivative"
    return _cause("no_second_derivative", "PreventGradient", place or innermost(call.stack), names, why,
                  certainty="certain" if place is not None else "likely")  # fmt: skip


def _unregistered(call: GradientCall, observer: Observer, op_type: str, names: tuple[str, ...]) -> Cause:
    op = _op_of_type(call, observer, op_type)
    if op is None:
        return _cause("no_gradient_registered", op_type, innermost(call.stack), names, certainty="likely")
    return _cause("no_gradient_registered", op_type, Creations(call.stack).place_of(op), names)


def _op_of_type(call: GradientCall, observer: Observer, op_type: str) -> Op | None:
    """The operation of that type which a derivative on its way to the sources meets; any of that type otherwise."""
    if call.position < 0:
        return None
    explainer = Explainer(call, observer)
    reach = explainer.reach
    of_type = [op for op in reach.program.ops if op.type == op_type]
    meets = [
        op
        for op in of_type
        if any(reach.masks[value] for value in op.inputs) and any(reach.behind[value] for value in op.outputs)
    ]
    chosen = meets or of_type
    return chosen[-1] if chosen else None


def _failed(call: GradientCall, observer: Observer, error: Any, names: tuple[str, ...]) -> list[Cause]:
    """An operation of the derivative failed while it ran eagerly."""
    op_type, tensors = _being_differentiated(error)
    if not op_type:
        return []
    place = None
    outputs = {getattr(tensor, "_id", None) for tensor in tensors} - {None}
    for event in reversed(observer.recorder.events):
        if event.kind == op_type and (not outputs or not outputs.isdisjoint((*event.outputs, *event.inputs))):
            place = innermost(stack_of(event.traceback))
            break
    message = _short(error.message)
    return [_cause("gradient_raised", op_type, place or innermost(call.stack), names, message, "backward",
                   "certain" if place is not None else "likely")]  # fmt: skip


def _being_differentiated(error: BaseException) -> tuple[str, list[Any]]:
    """Type of the operation whose gradient function raised, and its tensors; "" if none did."""
    entry = error.__traceback__
    found: tuple[str, list[Any]] = ("", [])
    while entry is not None:
        frame = entry.tb_frame
        if frame.f_code.co_name == "_gradient_function" and "op_name" in frame.f_locals:
            tensors = [*(frame.f_locals.get("inputs") or ()), *(frame.f_locals.get("outputs") or ())]
            found = str(frame.f_locals["op_name"]), tensors
        entry = entry.tb_next
    return found


def of_running(error: BaseException, observer: Observer, step: int = -1) -> list[Cause]:
    """Causes of an exception out of a compiled step: an operation of the derivative failed."""
    if not isinstance(error, tf.errors.OpError):
        return []
    node_names = [next(filter(None, groups)) for groups in _NODE.findall(str(error))]
    for call in reversed(observer.calls):
        if call.graph is None:
            continue
        ops = {op.name: op for op in call.graph.get_operations()}
        for name in node_names:
            op = ops.get(name) or ops.get(name.split("/", 1)[-1]) or _ending(ops, name)
            found = None if op is None else _of_operation(op, error, call.stack, _names(call), step)
            if found is not None:
                return [found]
    return []


def of_session(error: BaseException, names: tuple[str, ...]) -> list[Cause]:
    """Causes of an exception out of `session.run`: an operation that `tf.gradients` made failed."""
    op = getattr(error, "op", None)
    found = None if op is None else _of_operation(op, error, stack_of(op.traceback), names, -1)
    return [] if found is None else [found]


def _of_operation(op: Any, error: Any, stack: source.Stack, names: tuple[str, ...], step: int) -> Cause | None:
    """The cause of the failure of an operation of a derivative; None for an operation of the forward pass."""
    from tb_gradhealth.explain.nonfinite.gradient_calls import noted_forward
    from tb_gradhealth.explain.nonfinite.origins import infer_forward

    original = private.original_operation(op)
    if original is None and "gradient" not in op.name:
        return None
    message = _short(error.message)
    python = _derivative_of_python(op)
    if python is not None:  # what it hands on has no shape: the next operation chokes on it
        place = _place_of(python, stack)
        cause = _cause("py_function_numpy", python.type, place, names, "", "forward", "likely", step)
        return dataclasses.replace(cause, evidence=(_said("Running the derivative", None, error),))
    noted = noted_forward(op)
    known = original if original is not None else noted[0] if noted else None
    forward = known if known is not None else infer_forward(op, noted[1] if noted else "")
    if forward is None:
        return None
    place = _place_of(forward, stack)
    cause = _cause("gradient_raised", forward.type, place, names, message, "backward",
                   "certain" if known is not None else "likely", step)  # fmt: skip
    return dataclasses.replace(cause, evidence=(_said("Running the derivative", None, error),))


def _place_of(op: Any, stack: source.Stack) -> Place | None:
    return Creations(stack).place_of(Op(op.type, 0, [], [], {}, source=op, name=op.name, scope=op.name))


def _derivative_of_python(op: Any, far: int = 24) -> Any:
    """The `tf.py_function` whose derivative an operation is made of, some operations back; None if there is none."""
    from tb_gradhealth.explain.nonfinite.gradient_calls import noted_forward

    todo, seen = [op], {op.name}
    while todo and len(seen) <= far:
        current = todo.pop(0)
        if current.type == "EagerPyFunc" and (noted := noted_forward(current)) is not None:
            return noted[0]
        for tensor in current.inputs:
            backward = "gradient" in tensor.op.name or tensor.op.type == "EagerPyFunc"
            if backward and tensor.op.name not in seen:
                seen.add(tensor.op.name)
                todo.append(tensor.op)
    return None


def _ending(ops: Mapping[str, Any], name: str) -> Any:
    found = [op for key, op in ops.items() if name.endswith(key) and "gradient" in key]
    return max(found, key=lambda op: len(op.name)) if found else None


def no_explanation(error: Exception, ill: Mapping[str, Sequence[int]], owners: Sequence[Any]) -> list[Cause]:
    """A failure to explain, said in a sentence."""
    found = []
    for kind, places in ill.items():
        if not places:
            continue
        names = tuple(variables.name_of(owners[place], place) for place in places)
        found.append(
            Cause(
                kind=kind,
                reason_id="unexplained",
                reason=f"No explanation: {type(error).__name__}: {_short(str(error))}",
                op="",
                certainty="guess",
                variables=names,
            )
        )
    return found


def _names(call: GradientCall) -> tuple[str, ...]:
    return tuple(variables.names_of(call.sources))


def _cause(
    reason_id: str, op: str, place: Place | None, names: tuple[str, ...], what: str = "", phase: str = "forward",
    certainty: str = "certain", step: int = -1,
) -> Cause:  # fmt: skip
    words = reasons.words(reason_id, reasons.listed(names), op, what, len(names) > 1)
    return Cause(
        kind="error",
        reason_id=reason_id,
        reason=words.reason,
        op=op,
        file=place.file if place is not None else "",
        line=place.line if place is not None else 0,
        code=place.code if place is not None else "",
        phase=phase,
        fix=words.fix,
        certainty=certainty,
        variables=names,
        step=step,
    )


def _short(message: str) -> str:
    """The telling part of one of TensorFlow's messages."""
    text = message.partition("\n")[0]
    if text.startswith("Graph execution error"):  # what failed comes last, before the node in brackets
        lines = [line.strip() for line in message.partition("[[{{")[0].splitlines() if line.strip()]
        text = lines[-1] if lines else text
    text = re.sub(r"\{\{[^}]*\}\}", "", text)
    return re.sub(r"\s*\[Op:\w+\].*$", "", text).strip().rstrip(".:")[:200]
