"""Every private TensorFlow name that `explain/` leans on, in one place.

Each has the public thing it stands for, a check when the module is imported, and a clear answer where TensorFlow has
moved it: the function that needs it raises `Missing`, whose text becomes "no explanation: …".
"""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf


class Missing(RuntimeError):  # noqa: N818 - reads as the sentence it becomes
    """This TensorFlow lacks a private name that an explanation needs."""


def _find(module: str, name: str) -> Any:
    """`name` of the private `module`, or None."""
    import importlib

    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):  # pragma: no cover - all are present from TensorFlow 2.16 to 2.21
        return None


def _need(thing: Any, name: str) -> Any:
    if thing is None:
        raise Missing(f"TensorFlow {tf.__version__} has no {name}; tb_gradhealth knows TensorFlow 2.16 to 2.21.")
    return thing


# stands for: tf.raw_ops.<Op>(...), but by the operation's name and with its attributes as a graph has them
_execute = _find("tensorflow.python.eager.execute", "execute")
_execute_module = _find("tensorflow.python.eager", "execute")
_context = _find("tensorflow.python.eager.context", "context")

# stands for: tf.init_scope(), which stays in the graph where a TensorFlow 1 graph is the default
_eager_mode = _find("tensorflow.python.eager.context", "eager_mode")

# stands for: tf.debugging.enable_dump_debug_info, which sees every operation in the same way
_add_op_callback = _find("tensorflow.python.framework.op_callbacks", "add_op_callback")
_remove_op_callback = _find("tensorflow.python.framework.op_callbacks", "remove_op_callback")

# stands for: tf.GradientTape.gradient, at the moment when it differentiates one operation
_gradient_function = _find("tensorflow.python.eager.backprop", "_gradient_function")
_register_gradient_function = _find("tensorflow.python.pywrap_tfe", "TFE_Py_RegisterGradientFunction")

# stands for: tf.autograph.to_code, which shows the code that AutoGraph runs in place of the user's
_autograph = _find("tensorflow.python.autograph.impl.api", "_TRANSPILER")

# stands for: tf.types.experimental.AtomicFunction, of which a call in a graph or in eager mode has only the name
_atomic_function = _find("tensorflow.python.eager.polymorphic_function.atomic_function", "AtomicFunction")


def execute(op_type: str, inputs: Sequence[Any], attrs: Sequence[Any], outputs: int) -> list[Any]:
    """Runs one operation eagerly: type, flat inputs, name-value-name-value attributes, number of outputs."""
    module = _need(_execute_module, "eager.execute")
    context = _need(_context, "eager.context")()
    return list(module.execute(op_type, outputs, inputs=list(inputs), attrs=tuple(attrs), ctx=context))


def written_lines(file: str) -> dict[int, tuple[str, int, str]]:
    """Line of a file that AutoGraph generated → file, line and function that it was made from; empty if not known."""
    found = {}
    for factories in list(getattr(getattr(_autograph, "_cache", None), "_cache", {}).values()):
        for factory in list(factories.values()):
            if getattr(getattr(factory, "module", None), "__file__", None) == file:
                for here, origin in factory.source_map.items():
                    found[here.lineno] = (origin.loc.filename, origin.loc.lineno, origin.function_name)
    return found


def eager_mode() -> Any:
    """A context in which operations run eagerly, also inside a TensorFlow 1 graph."""
    return _need(_eager_mode, "context.eager_mode")()


def function_class() -> Any:
    """The class whose `call_flat` every call of a traced function passes."""
    return _need(_atomic_function, "AtomicFunction")


# stands for: tf.function(jit_compile=True) of the function being traced, or of any around it
_in_xla = _find("tensorflow.python.ops.control_flow_util", "GraphOrParentsInXlaContext")


def inside_xla() -> bool:
    """Whether the function being traced is itself inside one that says ``jit_compile=True``.

    Not asked of the graph itself: while it calls a compiled function, that function's context is the graph's.
    """
    outer = getattr(tf.compat.v1.get_default_graph(), "outer_graph", None)
    return outer is not None and _in_xla is not None and bool(_in_xla(outer))


def dtype_behind(handle: Any) -> Any:
    """The dtype of the variable that an eager resource handle points to."""
    data = getattr(handle, "_handle_data", None)
    if data is None or not data.shape_and_type:
        raise Missing("The handle of a variable does not say of which dtype the variable is.")
    return tf.as_dtype(data.shape_and_type[0].dtype)


def add_op_callback(callback: Callable[..., Any]) -> None:
    """From now on `callback(type, inputs, attrs, outputs, name=, graph=)` after each operation of this thread."""
    _need(_add_op_callback, "op_callbacks.add_op_callback")(callback)


def remove_op_callback(callback: Callable[..., Any]) -> None:
    """The opposite of `add_op_callback`."""
    _need(_remove_op_callback, "op_callbacks.remove_op_callback")(callback)


def gradient_function() -> Callable[..., Any]:
    """TensorFlow's own function that differentiates one recorded operation."""
    return _need(_gradient_function, "backprop._gradient_function")  # type: ignore[no-any-return]


def register_gradient_function(function: Callable[..., Any]) -> None:
    """Has every tape call `function` to differentiate an operation, in the whole process."""
    _need(_register_gradient_function, "TFE_Py_RegisterGradientFunction")(function)


def original_operation(operation: Any) -> Any:
    """The operation whose derivative `operation` belongs to, as `tf.gradients` notes it; else None."""
    return getattr(operation, "_original_op", None)


def forward_graph(graph: Any) -> Any:
    """Of the derivative of a loop or a branch, the graph that it differentiates; None for any other graph."""
    return getattr(graph, "_forward_graph", None)


def function_of(graph: Any, name: str) -> Any:
    """The function called `name` that `graph`, or a graph around it, knows; None if none does."""
    while graph is not None:
        find = getattr(graph, "_get_function", None)
        function = find(name) if find is not None else None
        if function is not None:
            return function
        graph = getattr(graph, "outer_graph", None)
    return None


def living_function(name: str) -> Any:
    """The function called `name` among all that live in this process; slow (it looks at every object), None if none."""
    import gc

    kind = _need(_atomic_function, "AtomicFunction")
    wanted = name.encode()
    for thing in gc.get_objects():
        if type(thing) is kind and thing.name == wanted:
            return thing
    return None


# ---- for None and zero: the tape, its stacks and its registry -------------------------------------------------------

# stands for: op.traceback, of the place where it is called, mapped back through AutoGraph
_extract_stack = _find("tensorflow.python.util.tf_stack", "extract_stack")

# stands for: tf.RegisterGradient, asked instead of told
_gradient_registry = _find("tensorflow.python.framework.ops", "_gradient_registry")

# stands for: "only float, complex and resource tensors are differentiable", as tf.GradientTape.watch warns
_is_trainable = _find("tensorflow.python.eager.backprop_util", "IsTrainable")

# stands for: tf.custom_gradient and tf.GradientTape, at the moment when they record an operation
_record_module = _find("tensorflow.python.eager", "record")

# stands for: tf.Tensor.numpy(), float(tensor), bool(tensor), …, which all come together in one method
_eager_tensor = _find("tensorflow.python.framework.ops", "_EagerTensorBase")

# stands for: reading a tf.Variable by `w * x`, which TensorFlow's fast path does without telling anybody
_resource_variable = _find("tensorflow.python.ops.resource_variable_ops", "BaseResourceVariable")

# stands for: tf.gradients and everything in TensorFlow 1 that calls it
_gradients_util = _find("tensorflow.python.ops", "gradients_util")

# stands for: tf.compat.v1.Session.run, which all kinds of sessions inherit
_session = _find("tensorflow.python.client.session", "BaseSession")

_context_module = _find("tensorflow.python.eager", "context")

NOT_REGISTERED = "not registered"
NOT_DIFFERENTIABLE = "not differentiable"
REGISTERED = "registered"


def extract_stack() -> Any:
    """The stack of the caller, cheap to take and read only when needed; frames as in `op.traceback`."""
    if _extract_stack is None:
        from tb_gradhealth.explain import source

        return _PlainStack(source.stack_here(1))
    return _extract_stack(2)


class _PlainStack(list[Any]):
    """Python's stack in the form of `op.traceback`."""

    def __init__(self, frames: Sequence[tuple[str, int, str]]) -> None:
        from types import SimpleNamespace

        super().__init__(SimpleNamespace(filename=file, lineno=line, name=name) for file, line, name in frames)


def registered_gradient(op_type: str) -> str:
    """What the registry says about a type of operation: one of REGISTERED, NOT_DIFFERENTIABLE, NOT_REGISTERED."""
    try:
        function = _need(_gradient_registry, "ops._gradient_registry").lookup(op_type)
    except LookupError:
        return NOT_REGISTERED
    return NOT_DIFFERENTIABLE if function is None else REGISTERED


def is_trainable(tensor: Any) -> bool:
    """Whether a derivative can flow through a tensor of this dtype (of what is in it, for a list of tensors)."""
    try:
        if _is_trainable is not None:
            return bool(_is_trainable(tensor))
    except Exception:  # a tensor whose handle data is gone
        pass
    dtype = tensor.dtype.base_dtype
    return bool(dtype.is_floating or dtype.is_complex or dtype in (tf.resource, tf.variant))


def tensor_id(tensor: Any) -> int | None:
    """A number that no other eager tensor of this process ever has; None for a graph's tensor."""
    if _eager_tensor is not None and not isinstance(tensor, _eager_tensor):
        return None  # a graph's tensors are numbered, too, each graph by itself
    number = getattr(tensor, "_id", None)
    return number if isinstance(number, int) else None


def name_scope() -> str:
    """The name scope in eager mode (Keras opens one for each layer): ``"sequential/dense/"``."""
    try:
        return str(_context_module.context().scope_name or "")
    except Exception:
        return ""


def record_module() -> Any:
    """The module whose `record_operation` puts custom gradients and function calls onto tapes; None if it is gone."""
    return _record_module


def eager_tensor_class() -> Any:
    """The class whose `_numpy` every conversion to NumPy or a Python number passes, buffers apart; None if gone."""
    return _eager_tensor if hasattr(_eager_tensor, "_numpy") else None


def resource_variable_class() -> Any:
    """The class whose `_handle` is looked up whenever a variable is read; None if gone."""
    return _resource_variable


def gradients_module() -> Any:
    """The module whose `_GradientsHelper` does the work of `tf.gradients`; None if it is gone."""
    return _gradients_util if hasattr(_gradients_util, "_GradientsHelper") else None


def session_class() -> Any:
    """The class whose `run` every TensorFlow 1 session has; None if it is gone."""
    return _session if hasattr(_session, "run") else None


def tape_methods() -> tuple[str, ...]:
    """The methods of `tf.GradientTape` by which recording begins and ends, as far as this TensorFlow has them."""
    return tuple(name for name in ("_push_tape", "_pop_tape") if hasattr(tf.GradientTape, name))


def watches_all(tape: Any) -> bool:
    """False if the tape was made with ``watch_accessed_variables=False``."""
    return bool(getattr(tape, "_watch_accessed_variables", True))


def function_being_called(frames: int = 12) -> Any:
    """The function (`tf.types.experimental.AtomicFunction`) whose eager call led here; None if no such call did."""
    import sys

    frame = sys._getframe(1)
    for _ in range(frames):
        if frame is None:
            return None
        if frame.f_code.co_name == "call_flat":
            owner = frame.f_locals.get("self")
            if _atomic_function is not None and isinstance(owner, _atomic_function):
                return owner
        frame = frame.f_back  # type: ignore[assignment]
    return None


def gradient_function_of_custom(backward: Any) -> Any:
    """The user's gradient function inside what `tf.custom_gradient` records; None if there is none to be seen."""
    code = getattr(backward, "__code__", None)
    cells = getattr(backward, "__closure__", None)
    if code is None or not cells:
        return None
    for name, cell in zip(code.co_freevars, cells, strict=False):
        if name == "grad_fn":
            return cell.cell_contents
        if name == "tape_grad_fn":
            return gradient_function_of_custom(cell.cell_contents)
    return None


def lookup_gradient(op_type: str) -> Any:
    """The registered gradient function of a type of operation, None if there is none."""
    try:
        return _need(_gradient_registry, "ops._gradient_registry").lookup(op_type)
    except LookupError:
        return None


def number_of_results(backward: Any) -> int:
    """How many results a custom gradient recorded in a graph has: they come before its inputs in the operation."""
    code, cells = getattr(backward, "__code__", None), getattr(backward, "__closure__", None)
    for name, cell in zip(code.co_freevars if code else (), cells or (), strict=False):
        if name == "flat_result_len":
            return int(cell.cell_contents)
        if name == "tape_grad_fn":
            return number_of_results(cell.cell_contents)
    return 0


def is_only_op_callback() -> bool:
    """Whether at most one operation callback is on in this thread, so that it may take itself off while it runs."""
    try:
        return len(_context_module.context().op_callbacks) <= 1
    except AttributeError:
        return False
