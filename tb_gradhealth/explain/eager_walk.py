"""What was recorded eagerly → a `Program`, as the tape of one gradient call saw it.

Called functions are laid out like those of a graph. A value that left for NumPy cannot be followed; it is tied, by an
edge that carries no derivative, to the constants that come up afterwards.
"""

from typing import Any

from tb_gradhealth.explain import edges
from tb_gradhealth.explain.cut import SILENT
from tb_gradhealth.explain.eager_recorder import CustomGradient, EagerRecorder, Event
from tb_gradhealth.explain.graph_walk import GraphWalk
from tb_gradhealth.explain.program import RECORDED, Program
from tb_gradhealth.explain.tapes import EAGER, Interval, TapeStory

_READS = ("ReadVariableOp", "ResourceGather", "ResourceGatherNd")


class EagerWalk:
    """Lays out the events before a gradient call.

    Args:
      recorder: with the events.
      end: number of events before the call.
      begins: number of events before the step.
      story: of the tape; None if it is not known (everything counts as recorded).
      others: when other tapes recorded.
      owned: keys of variables that optimizers write into between steps.
    """

    def __init__(
        self,
        recorder: EagerRecorder,
        end: int,
        begins: int = 0,
        story: TapeStory | None = None,
        others: list[Interval] | None = None,
        owned: frozenset[Any] = frozenset(),
    ):
        self.program = Program()
        self._recorder = recorder
        self._story = story
        self._others = others or []
        self._owned = owned
        self._begins = begins
        self._opens = story.start(EAGER) if story is not None else 0
        self._values: dict[int, int] = {}
        self._made: set[int] = set()
        self._pool: int | None = None
        self._walk = GraphWalk(self.program, self.known)
        for position, event in enumerate(recorder.events[:end]):
            self._event(position, event)

    def known(self, tensor: Any) -> int | None:
        """The value of an eager tensor that was seen; None for any other."""
        return self._values.get(getattr(tensor, "_id", -1))

    def value(self, number: int) -> int:
        """The value of the tensor with this id."""
        if number not in self._values:
            value = self.program.value(self._recorder.kept.get(number), self._recorder.carries.get(number, True))
            self._values[number] = value
            if number in self._recorder.handles:
                self._walk.handle(value, number)
            else:
                self._tie(number, value)
        return self._values[number]

    # ---- one event ----

    def _event(self, position: int, event: Event) -> None:
        event.position = position
        if event.kind == "Numpy":
            self._numpy(position, event)
            return
        inputs = [self.value(number) for number in event.inputs]
        if event.kind == "Custom":
            self._custom(position, event, inputs)
            return
        unrecorded = self._why_not(position)
        graph = getattr(event.extra, "graph", None)
        if graph is not None and len(self.program.ops) < 150_000:
            for number, value in zip(event.outputs, self._walk.call(graph, inputs, unrecorded), strict=False):
                self._values[number] = value
                self._made.add(number)
            return
        outputs = [self._output(number) for number in event.outputs]
        more = {"unrecorded": unrecorded, "source": event, "scope": event.scope}
        if event.kind in _READS and self._walk.is_handle(inputs[0]):
            self._walk.read(event.kind, inputs, outputs, **more)
        elif edges.is_write(event.kind) and any(self._walk.is_handle(value) for value in inputs):
            if position >= self._opens or self._owned.isdisjoint(event.inputs):
                self._walk.write(event.kind, inputs, outputs, **more)
        else:
            self.program.add(event.kind, inputs, outputs, edges.blocked_inputs(event.kind), **more)

    def _output(self, number: int) -> int:
        self._made.add(number)
        if number not in self._values:
            kept = self._recorder.kept.get(number)
            self._values[number] = self.program.value(kept, self._recorder.carries.get(number, True))
            if number in self._recorder.handles:
                self._walk.handle(self._values[number], number)
        return self._values[number]

    def _custom(self, position: int, event: Event, inputs: list[int]) -> None:
        """A custom gradient takes the place of whatever made its results."""
        gradient: CustomGradient = event.extra
        outputs = [self.value(number) for number in event.outputs]
        for output in outputs:
            for maker in self.program.makers[output]:
                self.program.ops[maker].blocked = {edges.ALL: SILENT}
        blocked = dict.fromkeys(gradient.none, "custom_gradient_none")
        self.program.add(
            "Custom", inputs, outputs, blocked, unrecorded=self._why_not(position), source=event, scope=event.scope
        )

    def _numpy(self, position: int, event: Event) -> None:
        if position < self._begins:
            return
        inputs = [self.value(number) for number in event.inputs]
        pool = self.program.value(carries=False)
        if self._pool is not None:
            inputs.append(self._pool)
        self.program.add("Numpy", inputs, [pool], {0: "numpy", 1: SILENT}, source=event, kind=event.extra)
        self._pool = pool

    def _tie(self, number: int, value: int) -> None:
        """A tensor that nobody made and that is no variable's may hold what NumPy was given."""
        if self._pool is not None and number not in self._made:
            self.program.add("FromNumpy", [self._pool], [value], {edges.ALL: SILENT})

    def _why_not(self, position: int) -> str:
        if self._story is None:
            return RECORDED
        reason = self._story.why_not(EAGER, position)
        if reason == "outside_tape" and any(interval.holds(position) for interval in self._others):
            return "other_tape"
        return reason
