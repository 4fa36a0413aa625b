"""What a node of a trace belongs to: the forward operation behind a derivative, the user's line, the Keras layer.

A gradient operation belongs to the operation it differentiates. That was noted while tracing (`gradient_calls`), or is
known to `tf.gradients`, or is inferred from the forward values that the gradient operation takes.
"""

import dataclasses
import re
from collections.abc import Iterable
from typing import Any

from tb_gradhealth.explain import private, source
from tb_gradhealth.explain.nonfinite.eager_record import Source
from tb_gradhealth.explain.nonfinite.gradient_calls import noted_forward
from tb_gradhealth.explain.nonfinite.trace import Node

_GRADIENT_CODE = (
    ("eager/backprop.py", "gradient"),
    ("eager/backprop.py", "_gradient_function"),
    ("ops/gradients_util.py", "_GradientsHelper"),
)


@dataclasses.dataclass(frozen=True)
class Origin:
    """Attributes:
    op: type of the forward operation (``"Sqrt"``).
    backward: whether the node is part of a derivative.
    stack: where the forward operation was written.
    layers: names of the Keras layers it is in, outermost first, as far as known.
    scope: name of the operation in its graph, "" in eager mode.
    forward: the forward operation: a `Node`, a graph operation, or None for an operation of the forward pass itself.
    exact: False where the forward operation was inferred.
    """

    op: str
    backward: bool
    stack: source.Stack
    layers: tuple[str, ...] = ()
    scope: str = ""
    forward: Any = None
    exact: bool = True

    @property
    def place(self) -> source.Place | None:
        return source.innermost(self.stack)


def origin_of(node: Node) -> Origin:
    """The origin of a node, whichever engine made it."""
    if isinstance(node.source, Source):
        return _eager_origin(node)
    return _graph_origin(node.source, node.type)


class Origins:
    """`origin_of`, remembered: a loop's body runs many times."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Origin]] = {}

    def __call__(self, node: Node) -> Origin:
        key: Any = node if isinstance(node.source, Source) else node.source
        if id(key) not in self._known:
            self._known[id(key)] = (key, origin_of(node))
        return self._known[id(key)][1]


def _eager_origin(node: Node) -> Origin:
    forward = node
    for _ in range(4):  # a derivative of a derivative
        if not isinstance(forward.forward, Node):
            break
        forward = forward.forward
    layers = tuple(str(getattr(layer, "name", "")) for layer in forward.source.layers())
    op = _plain(forward.type)
    return Origin(op, node.backward, forward.source.stack(), layers, forward=None if forward is node else forward)


def _graph_origin(op: Any, kind: str) -> Origin:
    if not hasattr(op, "traceback"):
        return Origin(_plain(kind), False, ())
    forward, backward, exact = op, False, True
    for _ in range(4):
        found, is_backward, is_exact = _forward_of(forward)
        backward |= is_backward
        if found is None:
            break
        forward, exact = found, exact and is_exact
    stack = source.stack_of(forward.traceback)
    return Origin(
        _plain(forward.type),
        backward,
        stack,
        _layers_in(forward.name, stack),
        forward.name,
        None if forward is op else forward,
        exact,
    )


def _forward_of(op: Any) -> tuple[Any, bool, bool]:
    """The operation that `op` differentiates or None, whether `op` is part of a derivative, whether that is sure."""
    noted = noted_forward(op)
    if noted is not None and noted[0] is not None and noted[0] is not op:
        return noted[0], True, True
    original = private.original_operation(op)
    if original is not None:
        return original, True, True
    named = named_forward(op)
    if named is not None:
        return named, True, True
    if noted is None and not is_gradient_stack(source.stack_of(op.traceback)):
        return None, False, True
    return infer_forward(op, noted[1] if noted is not None else ""), True, False


def named_forward(op: Any) -> Any:
    """The forward operation by the name scope in which `tf.gradients` works, also inside loops; else None."""
    for found in reversed(list(_GRADIENT_SCOPE.finditer(op.name))):  # the innermost first: a loop's own is around it
        graph = private.forward_graph(op.graph) or op.graph
        while graph is not None:
            try:
                return graph.get_operation_by_name(found.group(1))
            except (KeyError, ValueError):
                graph = getattr(graph, "outer_graph", None)
    return None


_GRADIENT_SCOPE = re.compile(r"(?:(?<=^)|(?<=/))gradients(?:_\d+)?/((?:(?!gradients(?:_\d+)?/).)*?)_grad/")


def is_gradient_stack(stack: source.Stack) -> bool:
    """Whether an operation with this stack was made by TensorFlow while it differentiated."""
    return any(
        file.replace("\\", "/").endswith(end) and name == function
        for file, _, name in stack
        for end, function in _GRADIENT_CODE
    )


def infer_forward(op: Any, kind: str = "") -> Any:
    """The forward operation whose values `op` takes and which fits its type and name scope best; None if none does.

    Args:
      op: a gradient operation of a graph.
      kind: type of the forward operation, "" if not known.
    """
    best: tuple[float, Any] = (0.0, None)
    scope = op.name.rpartition("/")[0]
    for distance, tensor in _forward_tensors(op):
        for candidate in (tensor.op, *tensor.consumers()):
            if candidate.type in _NEVER or is_gradient_stack(source.stack_of(candidate.traceback)):
                continue
            score = _fit(op, candidate, kind, scope) - 0.1 * distance
            if score > best[0]:
                best = (score, candidate)
    return best[1]


_NEVER = frozenset({"Const", "Placeholder", "ReadVariableOp", "Shape", "Identity", "VarHandleOp", "ZerosLike"})
_EMITS = {
    "Reciprocal": ("Log", "Log1p", "Acosh"),
    "Inv": ("Log", "Log1p"),
    "Pow": ("Pow",),
    "RealDiv": ("RealDiv", "Div", "Mean", "Atan2", "EuclideanNorm"),
    "Rsqrt": ("Acos", "Asin"),
    "Digamma": ("Lgamma",),
    "Exp": ("Erf", "Erfc"),
    "Cosh": ("Sinh",),
    "Sinh": ("Cosh",),
}


def _fit(op: Any, candidate: Any, kind: str, scope: str) -> float:
    score = 0.0
    if kind:
        score += 5.0 if candidate.type == kind else -5.0
    if op.type.startswith(candidate.type) and op.type != candidate.type:  # SqrtGrad of Sqrt
        score += 4.0
    if candidate.type in _EMITS.get(op.type, ()):
        score += 2.0
    own = candidate.name.rpartition("/")[0]
    if scope.endswith(own) and own:
        score += 1.0
    if f"{candidate.name}_grad" in op.name:
        score += 5.0
    return score


def _forward_tensors(op: Any) -> Iterable[tuple[int, Any]]:
    """Forward values that a gradient operation takes, through at most three gradient operations of its own."""
    seen: set[int] = set()
    todo = [(0, tensor) for tensor in op.inputs]
    while todo:
        distance, tensor = todo.pop(0)
        if id(tensor) in seen or distance > 3:
            continue
        seen.add(id(tensor))
        if is_gradient_stack(source.stack_of(tensor.op.traceback)):
            todo += [(distance + 1, item) for item in tensor.op.inputs]
        else:
            yield distance, tensor


def _plain(kind: str) -> str:
    """``Sqrt`` of ``SqrtGrad``: where a derivative was itself differentiated, the operation to name is the first."""
    root = re.sub(r"Grad(V\d)?$", "", kind)
    return root if root != kind and root in _HAVE_GRAD_OPS else kind


_HAVE_GRAD_OPS = frozenset(
    {
        "Sqrt",
        "Rsqrt",
        "Reciprocal",
        "Inv",
        "Tanh",
        "Sigmoid",
        "Relu",
        "Elu",
        "Selu",
        "Softplus",
        "Softsign",
        "LeakyRelu",
    }
)


def _layers_in(name: str, stack: source.Stack) -> tuple[str, ...]:
    """Keras layers that an operation's name scopes tell of, where Keras stands behind the user's line."""
    if not source.behind_keras(stack):
        return ()
    return tuple(part for part in name.split("/")[:-1] if part not in ("while", "cond", "body", "gradient_tape"))


def nodes_of(nodes: Iterable[Node], forward: Any) -> list[Node]:
    """The executions of a forward operation in a trace."""
    if isinstance(forward, Node):
        return [forward]
    return [node for node in nodes if node.source is forward]


def replica_in(node: Node) -> int:
    """The replica whose part of a graph made a node, by the name scope that a strategy gives it; -1 outside of any."""
    op = node.source
    found = re.search(r"(?:^|/)replica_(\d+)/", getattr(op, "name", "") or "")
    if found is not None:
        return int(found.group(1))
    graph = getattr(op, "graph", None)
    several = graph is not None and any("replica_1/" in other.name for other in graph.get_operations())
    return 0 if several else -1
