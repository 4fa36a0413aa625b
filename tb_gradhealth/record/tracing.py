"""Where the code is being run from: the few questions about tracing that need TensorFlow's private names.

Each has a safe answer should TensorFlow move the name.
"""

import concurrent.futures
from collections.abc import Callable
from typing import Any, TypeVar

import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2

try:
    from tensorflow.python.ops import control_flow_util as _control_flow
except ImportError:  # present in every TensorFlow from 2.16 to 2.21
    _control_flow = None

_in_xla = getattr(_control_flow, "GraphOrParentsInXlaContext", None)
"""Stands for: the function being traced, or one around it, was made with ``jit_compile=True``."""

_F = TypeVar("_F", bound=Callable[..., Any])
_R = TypeVar("_R")


def never_converted(function: _F) -> _F:
    """Keeps AutoGraph, which follows a user's `tf.function` into everything it calls, out of a function of ours."""
    kept: _F = tf.autograph.experimental.do_not_convert(function)
    return kept


def outside(function: Callable[[], _R]) -> _R:
    """The result of a function run eagerly, outside of whatever is being traced and of any distribution scope.

    For making variables while a step is traced. `tf.init_scope` is not enough: `tf.function` would still claim the
    variables as its own, trace its first call twice and refuse new ones later. A thread starts from a clean slate.
    """
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        return thread.submit(function).result()


def rarely(wanted: Any, taken: Callable[[], list[Any]], otherwise: Callable[[], list[Any]]) -> list[Any]:
    """`tf.cond` whose first branch costs nothing while it is not taken.

    TensorFlow unfolds both branches of a `tf.cond` into the function around it, and at each step goes through every
    operation of the one that was not taken to mark it as dead: hundreds, for a branch over all variables. Here the
    branches stay functions, of which one is called. Not where there are several devices: a function called so runs on
    one.

    Args:
      wanted: bool ``[]``.
      taken, otherwise: give as many tensors of the same dtypes, at least one.
    """
    result = list(tf.cond(wanted, taken, otherwise))
    if not tf.executing_eagerly() and not under_xla() and len(tf.config.list_logical_devices()) == 1:
        _keep_folded(result[0])
    return result


def _keep_folded(output: Any) -> None:
    operation = output.op
    while operation.type == "Identity":
        operation = operation.inputs[0].op
    if operation.type in ("If", "StatelessIf") and hasattr(operation, "_set_attr"):
        operation._set_attr(LOWERING, attr_value_pb2.AttrValue(b=False))


LOWERING = "_lower_using_switch_merge"
"""The attribute of an `If` operation that says whether its branches are unfolded."""


def under_xla() -> bool:
    """Whether the code being traced will be compiled by XLA because a function around it says ``jit_compile=True``."""
    return not tf.executing_eagerly() and _in_xla is not None and bool(_in_xla(tf.compat.v1.get_default_graph()))


def in_function() -> bool:
    """Whether a `tf.function` is being traced (not eager, and no TensorFlow 1 graph)."""
    return not tf.executing_eagerly() and not in_v1_graph()


def in_v1_graph() -> bool:
    """Whether a TensorFlow 1 graph is the default one, to be run by a session."""
    return not tf.executing_eagerly() and not tf.compat.v1.get_default_graph().building_function


def outermost_graph() -> Any:
    """The outermost function graph being traced, or None in eager mode."""
    if tf.executing_eagerly():
        return None
    graph = tf.compat.v1.get_default_graph()
    while getattr(graph, "outer_graph", None) is not None and getattr(graph.outer_graph, "building_function", False):
        graph = graph.outer_graph
    return graph
