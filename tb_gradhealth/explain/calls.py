"""A remembered call of `gradient`: what was differentiated, with respect to what, where, and what came back."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.explain import private, source
from tb_gradhealth.explain.tapes import EAGER, Interval, TapeStory
from tb_gradhealth.explain.variables import keys_of, tensor_key


@dataclasses.dataclass(eq=False)
class GradientCall:
    """One call of `GradientTape.gradient` (or `jacobian`, or `tf.gradients`).

    Attributes:
      where, graph: id of the graph and the graph; EAGER and None in eager mode.
      position: number of operations before the call, of the graph or of the recorder.
      begins: number of operations before the step the call belongs to.
      eager_position: number of eager operations recorded before the call, whatever mode it is in.
      story: when the tape recorded; None for `tf.gradients`.
      others: when other tapes recorded.
      targets: what was differentiated: graph tensors, or ids of eager tensors.
      sources: with respect to what, flat.
      keys: for each source, the keys of its variable.
      none: for each source, whether the answer was None; empty if the call raised.
      results: keys of the answers, to recognise them by; None where the answer was None.
      watched: keys of the variables the tape watched; None if not asked.
      zeros: the caller asked for zeros instead of None.
      trace: the stack of the call.
      error: what it raised.
      number: counts the remembered calls of this process.
      kept: strong references that keep ids and graphs valid.
    """

    where: int
    graph: Any
    position: int
    story: TapeStory | None
    targets: list[Any]
    sources: list[Any]
    keys: list[tuple[Any, ...]]
    trace: Any
    begins: int = 0
    eager_position: int = 0
    others: list[Interval] = dataclasses.field(default_factory=list)
    none: list[bool] = dataclasses.field(default_factory=list)
    results: list[Any] = dataclasses.field(default_factory=list)
    watched: frozenset[Any] | None = None
    watched_variables: tuple[Any, ...] = ()
    zeros: bool = False
    error: BaseException | None = None
    method: str = "gradient"
    number: int = 0
    inner: list["GradientCall"] = dataclasses.field(default_factory=list)

    @property
    def eager(self) -> bool:
        return self.where == EAGER

    @property
    def stack(self) -> source.Stack:
        return source.stack_of(self.trace)

    def source_of(self, variable: Any) -> int | None:
        """The place of a variable among the sources, None if it is not there."""
        keys = set(keys_of(variable))
        for place, (mine, item) in enumerate(zip(self.keys, self.sources, strict=True)):
            if item is variable or (keys and not keys.isdisjoint(mine)):
                return place
        return None

    def answered(self, results: Any) -> None:
        """Notes what came back."""
        flat = tf.nest.flatten(results)
        self.none = [result is None for result in flat]
        self.results = [None if result is None else result_key(result) for result in flat]


def result_key(result: Any) -> Any:
    """What a gradient is recognised by later."""
    tensor = result.values if isinstance(result, tf.IndexedSlices) else result
    return tensor_key(tensor) if tf.is_tensor(tensor) else id(tensor)


def targets_of(target: Any) -> list[Any]:
    """The tensors that are differentiated: a graph's as they are, eager ones by their id."""
    found = []
    for item in tf.nest.flatten(target, expand_composites=True):
        variable = isinstance(item, tf.Variable) or (not tf.is_tensor(item) and hasattr(item, "handle"))
        tensor = item.handle if variable else item
        if tf.is_tensor(tensor):
            number = private.tensor_id(tensor)
            found.append(tensor if number is None else number)
    return found


def sources_of(sources: Any) -> list[Any]:
    """What the derivative is taken with respect to, flat."""
    return list(tf.nest.flatten(sources))


def keys_of_sources(sources: Sequence[Any], graph: Any = None) -> list[tuple[Any, ...]]:
    """The keys of each source; a variable that is an argument of the function being traced has a second one there."""
    keys = [keys_of(item) for item in sources]
    inside = {tensor_key(outer): tensor_key(inner) for outer, inner in getattr(graph, "captures", None) or ()}
    return [(*own, *(inside[key] for key in own if key in inside)) for own in keys]
