"""A remembered gradient call → the program it differentiated, and the values of its variables and targets there."""

import dataclasses
from typing import Any

import tensorflow as tf

from tb_gradhealth.explain import edges, private, variables
from tb_gradhealth.explain.calls import GradientCall
from tb_gradhealth.explain.cut import SILENT
from tb_gradhealth.explain.eager_recorder import CustomGradient, EagerRecorder
from tb_gradhealth.explain.eager_walk import EagerWalk
from tb_gradhealth.explain.graph_walk import GraphWalk
from tb_gradhealth.explain.observer import custom_gradients_of
from tb_gradhealth.explain.program import RECORDED, Program


@dataclasses.dataclass
class Layout:
    """Attributes:
    program: all operations before the call.
    starts: for each source of the call, the values its derivative may be taken of (one for each replica).
    customs: name of an operation, or id of an event → its custom gradient.
    """

    program: Program
    starts: list[list[int]]
    customs: dict[Any, CustomGradient]


def lay_out(call: GradientCall, recorder: EagerRecorder, owned: frozenset[Any] = frozenset()) -> Layout:
    """Lays out what a call differentiated.

    Args:
      call: remembered.
      recorder: with the eager events before it, if any.
      owned: keys of variables that optimizers write into between steps.
    """
    if call.eager:
        return _eager(call, recorder, owned)
    return _graph(call, recorder, owned)


def _eager(call: GradientCall, recorder: EagerRecorder, owned: frozenset[Any]) -> Layout:
    walk = EagerWalk(recorder, call.position, call.begins, call.story, call.others, owned)
    program = walk.program
    program.targets = [walk.value(number) for number in call.targets]
    starts = []
    for item, keys in zip(call.sources, call.keys, strict=True):
        if not variables.is_variable(item):
            starts.append([walk.value(number) for number in keys])
        else:
            starts.append([program.leaf(key) for key in keys])
    customs = {id(event): event.extra for event in recorder.events[: call.position] if event.kind == "Custom"}
    return Layout(program, starts, customs)


def _graph(call: GradientCall, recorder: EagerRecorder, owned: frozenset[Any]) -> Layout:
    graph = next((target.graph for target in call.targets if hasattr(target, "graph")), call.graph)
    before = EagerWalk(recorder, call.eager_position) if call.eager_position else None
    program = before.program if before is not None else Program()
    outer = _Outer(program, before, graph)
    walk = GraphWalk(program, outer.known)
    answers, customs = _answers(graph)
    walk.blocked_by_tape(answers)
    walk.owned_by_optimizers(owned, call.story.start(id(graph)) if call.story is not None else 0)
    end = call.position if graph is call.graph else None
    env = walk.root(graph, _recorded(call, graph), end)
    program.targets = [_value_of(target, env, outer) for target in call.targets]
    starts = []
    for item, keys in zip(call.sources, call.keys, strict=True):
        if not variables.is_variable(item):
            starts.append([_value_of(item, env, outer)])
        else:
            starts.append([program.leaf(key) for key in keys])
    return Layout(program, starts, customs)


def _recorded(call: GradientCall, graph: Any) -> Any:
    story, where = call.story, id(graph)
    if story is None:
        return lambda index: RECORDED

    def why_not(index: int) -> str:
        reason = story.why_not(where, index)
        if reason == "outside_tape" and any(i.where == where and i.holds(index) for i in call.others):
            return "other_tape"
        return reason

    return why_not


class _Outer:
    """What a graph captured: values of the eager program before it, and of the graphs around it."""

    def __init__(self, program: Program, before: EagerWalk | None, graph: Any):
        self._program = program
        self._before = before
        self._env: dict[Any, int] = {}
        outer = getattr(graph, "outer_graph", None)
        if outer is not None and getattr(outer, "building_function", False):
            self._env = GraphWalk(program, self._eager).root(outer, lambda index: "outside_tape")

    def _eager(self, tensor: Any) -> int | None:
        return self._before.known(tensor) if self._before is not None else None

    def known(self, tensor: Any) -> int | None:
        found = self._eager(tensor)
        return found if found is not None else self._env.get(tensor.ref())


def _value_of(tensor: Any, env: dict[Any, int], outer: _Outer) -> int:
    if not hasattr(tensor, "graph") or private.tensor_id(tensor) is not None:
        found = outer.known(tensor) if tf.is_tensor(tensor) else None
        return found if found is not None else outer._program.value(tensor)
    key = tensor.ref()
    if key not in env:
        found = outer.known(tensor)
        env[key] = found if found is not None else outer._program.value(tensor, private.is_trainable(tensor))
    return env[key]


def _answers(graph: Any) -> tuple[dict[int, dict[int, str]], dict[Any, CustomGradient]]:
    """For the custom gradients of a graph and the functions in it: id of the operation → input → reason."""
    answers: dict[int, dict[int, str]] = {}
    customs: dict[Any, CustomGradient] = {}
    for inner in _with_functions(graph):
        notes = custom_gradients_of(inner)
        for op in inner.get_operations():
            if op.type != "IdentityN":
                continue
            gradient, results = notes.get(op.name, (None, 0))
            if gradient is None:
                gradient, results = _registered(op)
            if gradient is None:
                continue
            blocked = dict.fromkeys(range(results), SILENT)
            blocked |= {place: "custom_gradient_none" for place in gradient.none if place >= results}
            answers[id(op)] = blocked
            customs[op.name] = gradient
    return answers, customs


def _registered(op: Any) -> tuple[CustomGradient | None, int]:
    """The custom gradient of an operation that was made before anybody watched."""
    from tb_gradhealth.explain.custom_gradients import none_by_reading

    try:
        name = op.get_attr("_gradient_op_type").decode()
    except ValueError:
        return None, 0
    backward = private.lookup_gradient(name)
    function = private.gradient_function_of_custom(backward)
    if function is None:
        return None, 0
    results = private.number_of_results(backward)
    gradient = CustomGradient(name, function)
    gradient.none = tuple(results + place for place in none_by_reading(function))
    return gradient, results


def _with_functions(graph: Any, seen: set[int] | None = None) -> list[Any]:
    seen = set() if seen is None else seen
    if id(graph) in seen:
        return []
    seen.add(id(graph))
    found = [graph]
    for op in graph.get_operations():
        for name in ("f", "body", "cond", "then_branch", "else_branch"):
            if not edges.calls_functions(op.type):
                break
            try:
                function = private.function_of(graph, op.get_attr(name).name)
            except ValueError:
                continue
            if function is not None:
                found += _with_functions(function.graph, seen)
    return found
