"""A traced graph → a `Program`: called functions, branches and loops laid out in line, variables followed by handle.

Promises: reads the graph and never changes it; stops at `LIMIT` operations and says so. The state of a variable is
followed in the order in which operations were created, which is the order in which they run: a read depends on the
writes before it, and on those at the end of a loop's body.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tb_gradhealth.explain import edges, private
from tb_gradhealth.explain.program import Program

LIMIT = 200_000
"""Operations after which a program is cut off."""

_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
_WHILES = frozenset({"While", "StatelessWhile"})
_BRANCHES = {"If": True, "StatelessIf": True, "Case": False, "StatelessCase": False}
_READS = frozenset({"ReadVariableOp", "ResourceGather", "ResourceGatherNd"})
_BATCH_CALLS = frozenset({"BatchFunction", "SymbolicGradient", "RemoteCall"})

Recorded = Callable[[int], str]
"""Index of an operation of the root graph → why the tape did not record it."""


class GraphWalk:
    """Lays graphs out into a program.

    Args:
      program: grows.
      outside: value for a tensor that the root graph captured from outside (an eager tensor), None for a fresh one.
    """

    def __init__(self, program: Program, outside: Callable[[Any], int | None] | None = None):
        self.program = program
        self._outside = outside or (lambda tensor: None)
        self._state: dict[int, int] = {}
        self._handles: dict[int, Any] = {}
        self._none: dict[Any, dict[int, str]] = {}
        self._written: dict[Any, frozenset[int]] = {}
        self._owned: frozenset[Any] = frozenset()
        self._opens = 0
        self._index = 0
        self._root: Any = None

    def blocked_by_tape(self, answers: Mapping[Any, dict[int, str]]) -> None:
        """Operations (by `id`) whose gradient function was seen to answer None: input → reason."""
        self._none = dict(answers)

    def owned_by_optimizers(self, keys: frozenset[Any], opens: int) -> None:
        """Writes into these variables before the `opens`-th operation of the root graph are updates, not the model."""
        self._owned, self._opens = keys, opens

    def root(self, graph: Any, recorded: Recorded, end: int | None = None) -> dict[Any, int]:
        """Lays out a graph up to its `end`-th operation. Returns `tensor.ref()` → value."""
        self._root = graph
        env: dict[Any, int] = {}
        for external, inner in _captures(graph):
            env[inner.ref()] = self._captured(external, inner)
        self._graph(graph, env, recorded, (), end)
        return env

    def call(self, graph: Any, inputs: list[int], unrecorded: str, inside: tuple[str, ...] = ()) -> list[int]:
        """Lays out a function's graph with these values for its inputs. Returns the values of its outputs."""
        env = {tensor.ref(): value for tensor, value in zip(graph.inputs, inputs, strict=False)}
        self._graph(graph, env, lambda index: unrecorded, inside, None)
        return [env[tensor.ref()] if tensor.ref() in env else self._leaf(tensor) for tensor in graph.outputs]

    def handle(self, value: int, key: Any) -> None:
        """Tells that a value is the handle of the variable called `key`."""
        self._handles[value] = key

    def is_handle(self, value: int) -> bool:
        """Whether a value is the handle of a variable."""
        return value in self._handles

    # ---- one graph ----

    def _graph(
        self, graph: Any, env: dict[Any, int], recorded: Recorded, inside: tuple[str, ...], end: int | None
    ) -> None:
        for index, op in enumerate(graph.get_operations()):
            if end is not None and index >= end:
                return
            if len(self.program.ops) > LIMIT:
                self.program.truncated = True
                return
            if graph is self._root:
                self._index = index
            self._op(op, env, recorded(index), inside)

    def _op(self, op: Any, env: dict[Any, int], unrecorded: str, inside: tuple[str, ...]) -> None:
        kind = op.type
        if not op.inputs:
            for tensor in op.outputs:
                if tensor.ref() not in env:
                    env[tensor.ref()] = self._leaf(tensor)
            return
        inputs = [self._of(tensor, env) for tensor in op.inputs]
        if kind in _CALLS or private.function_of(op.graph, kind) is not None:
            self._call(op, op.get_attr("f").name if kind in _CALLS else kind, inputs, env, unrecorded, inside)
        elif kind in _WHILES:
            self._while(op, inputs, env, unrecorded, inside)
        elif kind in _BRANCHES:
            self._branches(op, inputs, env, unrecorded, inside)
        elif kind in _READS and inputs[0] in self._handles:
            self._read(op, inputs, env, unrecorded, inside)
        elif edges.is_write(kind) and any(value in self._handles for value in inputs):
            self._write(op, inputs, env, unrecorded, inside)
        else:
            self._plain(op, kind, inputs, env, unrecorded, inside)

    def _plain(
        self, op: Any, kind: str, inputs: list[int], env: dict[Any, int], unrecorded: str, inside: tuple[str, ...]
    ) -> None:
        outputs = [self._out(tensor, env) for tensor in op.outputs]
        blocked = self._none.get(id(op))
        if blocked is None:
            blocked = {} if _custom(op) else edges.blocked_inputs(kind)
        self.program.add(
            kind, inputs, outputs, blocked, unrecorded=unrecorded, source=op, inside=inside, name=op.name, scope=op.name
        )

    def _of(self, tensor: Any, env: dict[Any, int]) -> int:
        key = tensor.ref()
        if key not in env:  # made after `end`, or fed from outside the graph
            env[key] = self._leaf(tensor)
        return env[key]

    def _out(self, tensor: Any, env: dict[Any, int]) -> int:
        key = tensor.ref()
        if key not in env:
            env[key] = self.program.value(tensor, private.is_trainable(tensor))
        return env[key]

    def _leaf(self, tensor: Any) -> int:
        value = self.program.value(tensor, private.is_trainable(tensor))
        if tensor.dtype == "resource" and tensor.op.type in ("VarHandleOp", "Placeholder"):
            self._handles[value] = key_of_tensor(tensor)
        elif tensor.op.type in ("VariableV2", "Variable"):
            self.program.leaves[key_of_tensor(tensor)] = value
        return value

    def _captured(self, external: Any, inner: Any) -> int:
        value = self._outside(external)
        if value is None:
            value = self.program.value(external, private.is_trainable(inner))
        if inner.dtype == "resource" and value not in self._handles:
            self._handles[value] = key_of_tensor(external)
        return value

    # ---- variables ----

    def _read(self, op: Any, inputs: list[int], env: dict[Any, int], unrecorded: str, inside: tuple[str, ...]) -> None:
        outputs = [self._out(tensor, env) for tensor in op.outputs]
        self.read(
            op.type, inputs, outputs, unrecorded=unrecorded, source=op, inside=inside, name=op.name, scope=op.name
        )

    def read(self, kind: str, inputs: list[int], outputs: list[int], **more: Any) -> None:
        """A read of the variable behind `inputs[0]`: of the variable itself, and of what was written into it before."""
        leaf = self.program.leaf(self._handles[inputs[0]])
        values, blocked = [leaf, *inputs[1:]], dict(edges.blocked_inputs(kind))
        state = self._state.get(inputs[0])
        if state is not None:
            blocked[len(values)] = "assigned"
            values.append(state)
        self.program.add("Read", values, outputs, blocked, kind=kind, **more)

    def _write(self, op: Any, inputs: list[int], env: dict[Any, int], unrecorded: str, inside: tuple[str, ...]) -> None:
        outputs = [self._out(tensor, env) for tensor in op.outputs]
        self.write(
            op.type, inputs, outputs, unrecorded=unrecorded, source=op, inside=inside, name=op.name, scope=op.name
        )

    def write(self, kind: str, inputs: list[int], outputs: list[int], **more: Any) -> None:
        """A write into the variables among `inputs`: their states depend on all the other inputs from now on."""
        handles = [value for value in inputs if value in self._handles]
        if self._index < self._opens:
            handles = [value for value in handles if self._handles[value] not in self._owned]
        others = [value for value in inputs if value not in self._handles]
        whole = kind == "AssignVariableOp"
        before = [] if whole else [self._state[value] for value in handles if value in self._state]
        states = [self.program.value() for _ in handles]
        self.program.add("Write", others + before, outputs + states, {edges.ALL: "assigned"}, kind=kind, **more)
        self._state.update(zip(handles, states, strict=True))

    # ---- control flow ----

    def _call(
        self, op: Any, name: str, inputs: list[int], env: dict[Any, int], unrecorded: str, inside: tuple[str, ...]
    ) -> None:
        function = private.function_of(op.graph, name)
        if function is None:
            self._plain(op, "PartitionedCall", inputs, env, unrecorded, inside)
            return
        self._bind(op, self.call(function.graph, inputs, unrecorded, inside), env)

    def _branches(
        self, op: Any, inputs: list[int], env: dict[Any, int], unrecorded: str, inside: tuple[str, ...]
    ) -> None:
        functions = _branch_functions(op)
        if any(function is None for function in functions):
            self._plain(op, op.type, inputs, env, unrecorded, inside)
            return
        before = dict(self._state)
        answers, after = [], []
        for function in functions:
            self._state = dict(before)
            answers.append(self.call(function.graph, inputs[1:], unrecorded, (*inside, "If")))
            after.append(self._state)
        self._state = before
        for handle in {handle for state in after for handle in state}:
            values = [state[handle] for state in after if handle in state]
            merged = self.program.value()
            self.program.add("BranchPhi", values, [merged], {}, source=op, inside=inside, kind=op.type)
            self._state[handle] = merged
        for position, tensor in enumerate(op.outputs):
            values = [answer[position] for answer in answers if position < len(answer)]
            self.program.add(
                "BranchPhi", [*values, inputs[0]], [self._out(tensor, env)], {len(values): "branch_condition"},
                unrecorded=unrecorded, source=op, inside=inside, name=op.name, kind=op.type,
            )  # fmt: skip

    def _while(self, op: Any, inputs: list[int], env: dict[Any, int], unrecorded: str, inside: tuple[str, ...]) -> None:
        cond = private.function_of(op.graph, op.get_attr("cond").name)
        body = private.function_of(op.graph, op.get_attr("body").name)
        if cond is None or body is None:
            self._plain(op, op.type, inputs, env, unrecorded, inside)
            return
        kept = _loop_invariants(body.graph) | {p for p, value in enumerate(inputs) if value in self._handles}
        phis: dict[int, Any] = {}
        current = list(inputs)
        for position, value in enumerate(inputs):
            if position not in kept:
                current[position] = self.program.value(op.outputs[position], self.program.carries[value])
                phis[position] = self.program.add("LoopPhi", [value], [current[position]], {}, source=op, kind=op.type)
        state_phis = self._open_state_loops(op, body.graph, current)
        within = (*inside, "While")
        condition = self.call(cond.graph, current, unrecorded, within)
        ends = self.call(body.graph, current, unrecorded, within)
        for position, phi in phis.items():
            self.program.close_loop(phi, ends[position])
        for handle, phi in state_phis.items():
            self.program.close_loop(phi, self._state[handle])
            self._state[handle] = phi.outputs[0]
        for position, tensor in enumerate(op.outputs):
            if position in kept:
                env[tensor.ref()] = inputs[position]
                continue
            self.program.add(
                "Condition", [current[position], *condition[:1]], [self._out(tensor, env)], {1: "branch_condition"},
                unrecorded=unrecorded, source=op, inside=inside, name=op.name, kind=op.type,
            )  # fmt: skip

    def _open_state_loops(self, op: Any, body: Any, current: list[int]) -> dict[int, Any]:
        """What a loop's body writes into variables is what the next turn reads."""
        phis = {}
        for position in self._writes_to(body):
            handle = current[position]
            if handle not in self._handles:
                continue
            start = [self._state[handle]] if handle in self._state else []
            state = self.program.value()
            phis[handle] = self.program.add("LoopPhi", start, [state], {}, source=op, kind=op.type)
            self._state[handle] = state
        return phis

    def _writes_to(self, graph: Any) -> frozenset[int]:
        """Inputs of a function that are handles of variables written in it, or in what it calls."""
        key = id(graph)
        if key not in self._written:
            self._written[key] = frozenset()
            places = {tensor.ref(): index for index, tensor in enumerate(graph.inputs)}
            found: set[int] = set()
            for op in graph.get_operations():
                if edges.is_write(op.type):
                    found |= {places[t.ref()] for t in op.inputs if t.ref() in places and t.dtype == "resource"}
                    continue
                for function, offset in _functions_of(op):
                    for position in self._writes_to(function.graph):
                        tensor = op.inputs[position + offset]
                        if tensor.ref() in places:
                            found.add(places[tensor.ref()])
            self._written[key] = frozenset(found)
        return self._written[key]

    @staticmethod
    def _bind(op: Any, values: list[int], env: dict[Any, int]) -> None:
        for tensor, value in zip(op.outputs, values, strict=False):
            env[tensor.ref()] = value


def key_of_tensor(handle: Any) -> Any:
    """The key of a variable by its handle: the same in every graph that captures it."""
    number = private.tensor_id(handle)
    return number if number is not None else handle.ref()


def _captures(graph: Any) -> list[tuple[Any, Any]]:
    captures = getattr(graph, "captures", None)
    return list(captures) if captures else []


def _custom(op: Any) -> bool:
    """Whether the operation has a gradient function of its own (`tf.custom_gradient`)."""
    if op.type not in ("IdentityN", "Identity"):
        return False
    try:
        return bool(op.get_attr("_gradient_op_type"))
    except ValueError:
        return False


def _branch_functions(op: Any) -> list[Any]:
    if _BRANCHES[op.type]:
        names = [op.get_attr("then_branch").name, op.get_attr("else_branch").name]
    else:
        names = [branch.name for branch in op.get_attr("branches")]
    return [private.function_of(op.graph, name) for name in names]


def _functions_of(op: Any) -> list[tuple[Any, int]]:
    """Functions an operation calls, with the place of their first input among the operation's."""
    if op.type in _CALLS:
        found = [(private.function_of(op.graph, op.get_attr("f").name), 0)]
    elif op.type in _WHILES:
        found = [(private.function_of(op.graph, op.get_attr(name).name), 0) for name in ("cond", "body")]
    elif op.type in _BRANCHES:
        found = [(function, 1) for function in _branch_functions(op)]
    else:
        found = []
    return [(function, offset) for function, offset in found if function is not None]


def _loop_invariants(body: Any) -> frozenset[int]:
    """Places of a loop's variables that the body hands on unchanged."""
    return frozenset(
        index for index, (before, after) in enumerate(zip(body.inputs, body.outputs, strict=False)) if before is after
    )
