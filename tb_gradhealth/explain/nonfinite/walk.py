"""From a bad gradient backwards to the operation in which its NaN or Inf was born.

Promises: follows NaN before Inf; an Inf that was computed leads on to the operation that computed it, while one that
was written down on purpose (a mask of ``-inf``) is innocent, and then the operation that made a NaN of it is the birth.
The births come in the order in which they happened: what came in with the batch or the weights first.
"""

import dataclasses
from collections.abc import Callable, Iterable

from tb_gradhealth.explain.nonfinite.trace import CONSTANT, VARIABLE, Node, Value

_READS = frozenset({"ReadVariableOp", "ResourceGather", "VariableV2", "ResourceGatherNd"})
_LOGARITHMS = frozenset({"Log", "Log1p"})


@dataclasses.dataclass(frozen=True)
class Birth:
    """Where a NaN or Inf came into the step.

    Attributes:
      value: the first non-finite value.
      node: the operation that made it; None if it came in with an input, a variable or a constant.
      route: the operations that carried it on to the gradient, birth first.
    """

    value: Value
    node: Node | None
    route: tuple[Node, ...] = ()

    @property
    def order(self) -> tuple[int, ...]:
        return () if self.node is None else self.node.index


def births(starts: Iterable[Value], enter: Callable[[Node], None] | None = None) -> list[Birth]:
    """All births behind the non-finite values among `starts`, the earliest first.

    Args:
      starts: values of one trace.
      enter: called for each operation that the walk comes to, before it looks at its inputs; may replace the makers of
        its outputs by what is inside of it.
    """
    walk = _Walk(enter)
    found: list[Birth] = []
    for start in starts:
        if start.facts.bad:
            found += walk.up(start)
    return sorted(found, key=lambda birth: birth.order)


class _Walk:
    def __init__(self, enter: Callable[[Node], None] | None = None) -> None:
        self._enter = enter
        self._seen: set[int] = set()
        self._innocent: dict[int, bool] = {}

    def up(self, start: Value) -> list[Birth]:
        found: list[Birth] = []
        came_from: dict[int, Value] = {}
        stack = [start]
        while stack:
            value = stack.pop()
            if id(value) in self._seen:
                continue
            self._seen.add(id(value))
            if value.node is not None and self._enter is not None:
                self._enter(value.node)
            culprits = self._culprits(value)
            for culprit in culprits:
                came_from.setdefault(id(culprit), value)
            stack += culprits
            if not culprits:
                found.append(_birth(value, _route(value, came_from)))
        return found

    def _culprits(self, value: Value) -> list[Value]:
        """The inputs to go on to; none if the value was born here."""
        if value.node is None:
            return []
        inputs = value.node.inputs
        with_nan = [item for item in inputs if item.facts.nan]
        if with_nan:
            return with_nan
        return [item for item in inputs if item.facts.inf and not self.innocent(item)]

    def innocent(self, value: Value) -> bool:
        """Whether its infinities were put there on purpose."""
        stack = [value]
        while stack:
            current = stack[-1]
            if id(current) in self._innocent:
                stack.pop()
                continue
            verdict, waits_for = self._judge(current)
            if waits_for:
                stack += waits_for
            else:
                self._innocent[id(current)] = verdict
                stack.pop()
        return self._innocent[id(value)]

    def _judge(self, value: Value) -> tuple[bool, list[Value]]:
        facts, node = value.facts, value.node
        if facts.nan:
            return False, []
        if node is None:
            return value.origin == CONSTANT or (value.origin != VARIABLE and facts.is_mask), []
        bad = [item for item in node.inputs if item.facts.bad]
        if not bad:
            return is_log_of_mask(node), []
        unknown = [item for item in bad if id(item) not in self._innocent]
        return (False, unknown) if unknown else (all(self._innocent[id(item)] for item in bad), [])


def _birth(value: Value, route: tuple[Node, ...]) -> Birth:
    node = value.node
    if node is None or node.type not in _READS:
        return Birth(value, node, route)
    value.origin, value.label = VARIABLE, value.label or node.inputs[0].label
    return Birth(value, None, (node, *route))


def is_log_of_mask(node: Node) -> bool:
    """A logarithm of zeros and ones that come from comparisons or whole numbers: the usual way to write a mask."""
    if node.type not in _LOGARITHMS or node.backward or not node.inputs[0].facts.is_binary:
        return False
    value = node.inputs[0]
    for _ in range(8):
        if value.node is None:
            return value.origin == CONSTANT
        kinds = [item.facts.dtype for item in value.node.inputs]
        if value.node.type == "Cast" and not kinds[0].startswith(("float", "bfloat")):
            return True
        computed = [item for item in value.node.inputs if item.origin != CONSTANT]
        if len(computed) != 1 or value.node.type in _READS:
            return False
        value = computed[0]
    return False


def _route(value: Value, came_from: dict[int, Value]) -> tuple[Node, ...]:
    route = []
    following = came_from.get(id(value))
    while following is not None and following.node is not None:
        route.append(following.node)
        following = came_from.get(id(following))
    return tuple(route)
