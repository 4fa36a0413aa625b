"""Runs the operations of a traced graph one by one, eagerly, and notes every value: no Python of the user runs again.

Promises: nothing outside the trace changes. Operations without a value that is asked for (updates, prints, summaries,
asserts) do not run; a variable that is written before it is read is written in a scratch copy. Loops, branches and
called functions are entered, so that their operations appear in the trace like any other.
"""

import heapq
import time
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import tensorflow as tf

from tb_gradhealth.explain import private
from tb_gradhealth.explain.nonfinite import attributes
from tb_gradhealth.explain.nonfinite.trace import COMPUTED, CONSTANT, Node, Trace, Value

SECONDS = 60.0
"""How long one run may take before it gives up."""

_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
_WHILES = frozenset({"While", "StatelessWhile"})
_IFS = frozenset({"If", "StatelessIf"})
_CASES = frozenset({"Case", "StatelessCase"})
RANDOM = frozenset(
    {"RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt", "ParameterizedTruncatedNormal",
     "RandomGammaV2", "RandomGamma", "RandomPoissonV2", "Multinomial", "RandomShuffle", "StatefulRandomBinomial"}
)  # fmt: skip
_NOT_REPEATABLE = frozenset({"IteratorGetNext", "IteratorGetNextAsOptional", "QueueDequeueV2", "ReaderReadV2"})
_WRITES = (
    "Assign", "AssignAdd", "AssignSub", "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp",
    "ResourceScatter", "ResourceStridedSliceAssign", "ResourceApply", "ResourceSparseApply", "ResourceCountUpTo",
    "StatefulUniform", "RngReadAndSkip",
)  # fmt: skip


class CannotRun(RuntimeError):  # noqa: N818 - reads as the sentence it becomes
    """The graph cannot be run once more; the text says why."""


class Run:
    """One run of a graph and of the graphs inside it.

    Args:
      trace: where nodes go.
      seconds: time limit.
    """

    def __init__(self, trace: Trace, seconds: float = SECONDS):
        self.trace = trace
        self._deadline = time.monotonic() + seconds
        self._constants: dict[Any, Value] = {}
        self._plans: dict[Any, tuple[list[Any], dict[Any, int]]] = {}
        self._attributes: dict[Any, tuple[Any, ...]] = {}
        self._scratch: dict[int, Any] = {}
        self._peers: dict[int, list[Any]] = {}
        self._paired: set[int] = set()

    def graph(
        self, graph: Any, feeds: Mapping[Any, Value], wanted: Sequence[Any], path: tuple[str, ...] = ()
    ) -> list[Value]:
        """Runs what the tensors `wanted` need.

        Args:
          graph: a `tf.Graph`, as a rule a function's.
          feeds: `tensor.ref()` of a graph tensor → its value: arguments, captures, anything known.
          wanted: tensors of `graph`.

        Raises:
          CannotRun: something needed is neither fed nor can be run again.
        """
        env: dict[Any, Value] = dict(feeds)
        plan, uses = self._plan(graph, wanted, env)
        left = dict(uses)
        for op in plan:
            if time.monotonic() > self._deadline:
                raise CannotRun("running the step once more took too long")
            self._run(op, env, path)
            for tensor in _inputs(op, self._peers):
                key = tensor.ref()
                left[key] -= 1
                if not left[key] and env[key].origin == COMPUTED:
                    self.trace.finished(env[key])
        return [env[tensor.ref()] for tensor in wanted]

    # ---- planning ----

    def _plan(self, graph: Any, wanted: Sequence[Any], env: Mapping[Any, Value]) -> tuple[list[Any], dict[Any, int]]:
        key = (id(graph), tuple(tensor.ref() for tensor in wanted), frozenset(env))
        if key not in self._plans:
            self._pair_collectives(graph)
            needed = _needed(wanted, env, self._peers)
            order = {id(op): place for place, op in enumerate(graph.get_operations())}
            _add_writes(needed, order, env)
            ops = _in_order(needed, order, env, self._peers)
            uses: dict[Any, int] = {tensor.ref(): 1 for tensor in wanted}  # the caller holds these
            for op in ops:
                for tensor in _inputs(op, self._peers):
                    uses[tensor.ref()] = uses.get(tensor.ref(), 0) + 1
            self._plans[key] = (ops, uses)
        return self._plans[key]

    def _pair_collectives(self, graph: Any) -> None:
        """The n-th all-reduce of each replica belongs with the n-th of every other."""
        if id(graph) in self._paired:
            return
        self._paired.add(id(graph))
        by_device: dict[str, list[Any]] = {}
        for op in graph.get_operations():
            if op.type in _COLLECTIVES:
                by_device.setdefault(op.device, []).append(op)
        for peers in zip(*by_device.values(), strict=False):
            for op in peers:
                self._peers[id(op)] = [other.inputs[0] for other in peers]

    # ---- running ----

    def _run(self, op: Any, env: dict[Any, Value], path: tuple[str, ...]) -> None:
        kind = op.type
        if kind == "Const":
            self._bind(op, [self._constant(op)], env)
            return
        if kind in ("Placeholder", "PlaceholderV2"):
            raise CannotRun(f"the value of the argument {op.name!r} is not known")
        if kind in _NOT_REPEATABLE:
            raise CannotRun(f"the operation {kind} would take the next batch instead of the one of the bad step")
        if kind in _COLLECTIVES:
            self._reduce(op, env, path)
            return
        inputs = [env[tensor.ref()] for tensor in op.inputs]
        if kind in _CALLS:
            self._bind(op, self._call(op, op.get_attr("f").name, inputs, path), env)
        elif kind in _WHILES:
            self._bind(op, self._while(op, inputs, path), env)
        elif kind in _IFS:
            taken = bool(inputs[0].tensor.numpy().any())
            name = op.get_attr("then_branch" if taken else "else_branch").name
            self._bind(op, self._call(op, name, inputs[1:], (*path, f"If[{taken}]")), env)
        elif kind in _CASES:
            branches = op.get_attr("branches")
            index = int(inputs[0].tensor.numpy())
            chosen = index if 0 <= index < len(branches) else len(branches) - 1
            self._bind(op, self._call(op, branches[chosen].name, inputs[1:], (*path, f"Case[{chosen}]")), env)
        elif private.function_of(op.graph, kind) is not None:
            self._bind(op, self._call(op, kind, inputs, path), env)
        else:
            self._execute(op, inputs, env, path)

    def _execute(self, op: Any, inputs: list[Value], env: dict[Any, Value], path: tuple[str, ...]) -> None:
        self.trace.random |= op.type in RANDOM
        if _writes(op):
            self._redirect(op, inputs)
        key = (id(op.graph), op.name)
        if key not in self._attributes:
            self._attributes[key] = attributes.of_operation(op)
        try:
            results = private.execute(
                op.type, [value.tensor for value in inputs], self._attributes[key], len(op.outputs)
            )
        except tf.errors.OpError as error:
            raise CannotRun(f"the operation {op.type} ({op.name}) failed: {error.message}") from error
        outputs = tuple(Value(result) for result in results)
        self.trace.add(Node(op.type, tuple(inputs), outputs, (len(self.trace.nodes),), source=op, attrs={}, path=path))
        self._bind(op, outputs, env)

    def _reduce(self, op: Any, env: dict[Any, Value], path: tuple[str, ...]) -> None:
        """An all-reduce, done here for all replicas."""
        inputs = [env[tensor.ref()] for tensor in self._peers.get(id(op), [op.inputs[0]])]
        total = tf.add_n([tf.identity(value.tensor) for value in inputs])
        output = Value(total)
        self.trace.add(Node(op.type, tuple(inputs), (output,), (len(self.trace.nodes),), source=op, path=path))
        self._bind(op, [output], env)

    def _call(self, op: Any, name: str, inputs: Sequence[Value], path: tuple[str, ...]) -> list[Value]:
        graph = self._function(op, name)
        if len(graph.inputs) != len(inputs):
            raise CannotRun(f"the function {name} takes {len(graph.inputs)} values and is called with {len(inputs)}")
        feeds = {tensor.ref(): value for tensor, value in zip(graph.inputs, inputs, strict=True)}
        seen = {id(value) for value in inputs}
        results = []
        for value in self.graph(graph, feeds, graph.outputs, path):
            # What is handed through gets a name of its own, so that each may be finished by itself.
            own = Value(value.tensor, value.origin, value.label, value.node) if id(value) in seen else value
            seen.add(id(own))
            results.append(own)
        return results

    def _while(self, op: Any, inputs: Sequence[Value], path: tuple[str, ...]) -> list[Value]:
        state = list(inputs)
        limit = 10**9
        for turn in range(limit):
            inside = (*path, f"While[{turn}]")
            if not bool(self._call(op, op.get_attr("cond").name, state, inside)[0].tensor.numpy().all()):
                break
            state = self._call(op, op.get_attr("body").name, state, inside)
        return state

    def _function(self, op: Any, name: str) -> Any:
        function = private.function_of(op.graph, name) or private.living_function(name)
        if function is None:
            raise CannotRun(f"the function {name} is gone")
        return function.graph

    def _constant(self, op: Any) -> Value:
        key = (id(op.graph), op.name)
        if key not in self._constants:
            self._constants[key] = Value(tf.constant(tf.make_ndarray(op.get_attr("value"))), CONSTANT)
            self._constants[key].node = None
        return self._constants[key]

    def _redirect(self, op: Any, inputs: Sequence[Value]) -> None:
        """Has a write go into a scratch copy of its variable, now and in all operations to come."""
        for value in inputs:
            if getattr(value.tensor, "dtype", None) == tf.resource and id(value) not in self._scratch:
                copy = _copy_of_variable(value.tensor, op)
                value.tensor = copy.handle
                self._scratch[id(value)] = copy

    @staticmethod
    def _bind(op: Any, values: Sequence[Value], env: dict[Any, Value]) -> None:
        for tensor, value in zip(op.outputs, values, strict=True):
            env[tensor.ref()] = value


_COLLECTIVES = frozenset({"CollectiveReduceV2", "CollectiveReduce", "NcclAllReduce"})


def _inputs(op: Any, peers: Mapping[int, list[Any]]) -> Sequence[Any]:
    """What an operation needs: of an all-reduce, the values of all replicas and nothing else."""
    if op.type in _COLLECTIVES:
        return peers.get(id(op)) or [op.inputs[0]]
    return list(op.inputs)


def _needed(
    wanted: Iterable[Any], env: Mapping[Any, Value], peers: Mapping[int, list[Any]] = MappingProxyType({})
) -> dict[int, Any]:
    """Operations whose values are needed, by id, over data edges."""
    needed: dict[int, Any] = {}
    stack = [tensor for tensor in wanted if tensor.ref() not in env]
    while stack:
        op = stack.pop().op
        if id(op) in needed:
            continue
        needed[id(op)] = op
        stack.extend(tensor for tensor in _inputs(op, peers) if tensor.ref() not in env)
    return needed


def _add_writes(needed: dict[int, Any], order: Mapping[int, int], env: Mapping[Any, Value]) -> None:
    """Adds the writes to variables that come before a needed read of the same variable."""
    while True:
        last_read: dict[Any, int] = {}
        for op in needed.values():
            for tensor in op.inputs:
                if tensor.dtype == tf.resource and not _writes(op):
                    key = tensor.ref()
                    last_read[key] = max(last_read.get(key, -1), order.get(id(op), -1))
        found = [
            consumer
            for key, place in last_read.items()
            for consumer in key.deref().consumers()
            if _writes(consumer) and id(consumer) not in needed and order.get(id(consumer), 1 << 60) < place
        ]
        if not found:
            return
        for op in found:
            needed[id(op)] = op
            needed.update(_needed(op.inputs, env))


def _in_order(
    needed: Mapping[int, Any], order: Mapping[int, int], env: Mapping[Any, Value], peers: Mapping[int, list[Any]]
) -> list[Any]:
    """Every operation after its inputs, else as written: a loop gets inputs that are younger than itself."""
    waits: dict[int, int] = {}
    blocks: dict[int, list[int]] = {}
    for key, op in needed.items():
        before = {id(tensor.op) for tensor in _inputs(op, peers) if tensor.ref() not in env}
        before |= {id(control) for control in op.control_inputs if id(control) in needed}
        waits[key] = len(before)
        for other in before:
            blocks.setdefault(other, []).append(key)
    heap = [(order.get(key, len(order)), key) for key, count in waits.items() if not count]
    heapq.heapify(heap)
    ordered = []
    while heap:
        key = heapq.heappop(heap)[1]
        ordered.append(needed[key])
        for other in blocks.get(key, ()):
            waits[other] -= 1
            if not waits[other]:
                heapq.heappush(heap, (order.get(other, len(order)), other))
    if len(ordered) != len(needed):
        raise CannotRun("the graph has a loop made of TensorFlow 1 control flow, which cannot be entered")
    return ordered


def _writes(op: Any) -> bool:
    return bool(op.type.startswith(_WRITES))


def _copy_of_variable(handle: Any, op: Any) -> Any:
    dtype = None
    for name in ("dtype", "T"):
        try:
            dtype = op.get_attr(name)
            break
        except ValueError:
            continue
    if dtype is None:
        raise CannotRun(f"the operation {op.type} writes into a variable of unknown kind")
    value = tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype)
    return tf.Variable(value, trainable=False, shape=tf.TensorShape(None))
