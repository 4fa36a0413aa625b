"""The host's side of one group: its schema, its windows, its health, its flight recorder.

A group is one optimizer, or one list of gradients. Its schema holds every variable handed over so far; when that set or
a variable's role changes, a new generation begins. Steps that go backwards (a checkpoint was restored) begin one too,
so that readers let the repeated steps replace the former ones.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.log_writer import LogWriter
from tb_gradhealth.format.windows import Array, Windows
from tb_gradhealth.health import Incident, Thresholds, Tracker
from tb_gradhealth.record.builder import WindowBuilder
from tb_gradhealth.record.flight import FlightRecorder
from tb_gradhealth.record.guard import Guard
from tb_gradhealth.record.history import Place
from tb_gradhealth.record.schema import Entry, GroupFacts, build_schema, is_ignored, key_of, name_of

MAX_INCIDENTS = 200
"""Incidents kept of one group, over all its generations."""


class Group:
    """Takes in steps, hands complete windows to the log, and tells new incidents.

    Args:
      name: of the group.
      facts: what its schemas say.
      thresholds: for its health.
      ignore: names of variables that are expected to get no gradient.
    """

    def __init__(
        self, name: str, facts: GroupFacts, thresholds: Thresholds | None = None, ignore: Collection[str] = ()
    ) -> None:
        self.name = name
        self.facts = facts
        self._thresholds = thresholds
        self._ignore = frozenset(ignore)
        self._trained: dict[Any, Entry] = {}
        self._others: dict[Any, Entry] = {}
        self._stale = True
        self._places: dict[tuple[int, ...], Place] = {}
        """Of the present schema; its variables are held by the entries, so that an id stays theirs."""
        self._builder = WindowBuilder(facts.every)
        self._flight = FlightRecorder()
        self._tracker: Tracker | None = None
        self._health_guard = Guard(f"looking for incidents in {name!r}")
        self.schema: pb.Schema | None = None
        self.last_step: int | None = None
        self.last_global_norm = float("nan")
        self.bad_steps = 0
        self.former_incidents: list[pb.Incident] = []
        """Incidents of earlier generations."""

    # Variables ------------------------------------------------------------------------------------------------------

    def hand_over(self, variables: Sequence[Any]) -> None:
        """These variables' gradients are recorded from now on."""
        for variable in variables:
            key = key_of(variable)
            if key not in self._trained:
                self._trained[key] = Entry(variable)
                self._others.pop(key, None)
                self._stale = True

    def set_others(self, entries: Sequence[Entry]) -> None:
        """The variables that are not trained by this group, each with its role; replaces those told before."""
        others = {key_of(entry.variable): entry for entry in entries}
        left = [key for key in self._trained if key in others]
        for key in left:
            del self._trained[key]
        roles = {key: entry.role for key, entry in others.items()}
        if left or roles != {key: entry.role for key, entry in self._others.items()}:
            self._stale = True
        self._others = others

    def forget_variables(self) -> None:
        """The variables handed over so far are those of a former model."""
        self._trained.clear()
        self._others.clear()
        self._stale = True

    def place_of(self, variables: Sequence[Any], empty: Sequence[bool]) -> Place:
        """Where the gradients of a list of variables stand in the present schema."""
        asked = (*map(id, variables), *empty)
        if self._stale or asked not in self._places:
            keys = [*self._trained, *self._others]
            at = {key: index for index, key in enumerate(keys)}
            index = [at[key_of(variable)] for variable in variables]
            place = Place(index, len(keys), self.facts.replicas, empty)
            self._places = {asked: place} if self._stale else {**self._places, asked: place}
        return self._places[asked]

    def expects_none(self, variables: Sequence[Any]) -> Array:
        """Which variables are expected to get no gradient: bool ``[variables]``."""
        return np.array([is_ignored(name_of(v, i), self._ignore) for i, v in enumerate(variables)], bool)

    @property
    def variables(self) -> list[Any]:
        """In the order of the schema."""
        return [entry.variable for entry in (*self._trained.values(), *self._others.values())]

    # Steps ----------------------------------------------------------------------------------------------------------

    def renew(self, log: LogWriter, step: int) -> bool:
        """Begins a generation if one is due. Returns whether it did."""
        backwards = self.last_step is not None and step <= self.last_step
        if not self._stale and not backwards:
            return False
        self.write_pending(log)
        self._end_generation()
        entries = [*self._trained.values(), *self._others.values()]
        self.schema = build_schema(self.name, entries, self.facts, self._ignore, self._thresholds)
        self._tracker = self._health_guard.run(Tracker, self.schema, self._thresholds)
        self._builder = WindowBuilder(self.facts.every)
        self._flight = FlightRecorder()
        self._stale = False
        self.last_step = None
        log.schema(self.schema, step)
        return True

    def feed(self, windows: Windows, log: LogWriter) -> list[Incident]:
        """Takes in windows over the present schema's rows, in order of steps; writes what is complete."""
        assert self.schema is not None, "renew first"
        self.last_step = int(windows.last_step[-1])
        self.last_global_norm = float(windows.global_norm[-1])
        self.bad_steps += self._count_bad(windows)
        incidents: list[Incident] = []
        if self._tracker is not None:
            incidents = self._health_guard.run(self._tracker.feed, windows) or []
        single = self._builder.width == 1
        complete = self._builder.add(windows)
        log.records(complete, self.name, self.schema.generation)
        flight = self._flight.add(windows, bool(incidents), already_stored=single)
        if flight is not None:
            log.flight(flight, self.name, self.schema.generation, self._flight.number)
        return incidents

    def write_pending(self, log: LogWriter) -> None:
        """Writes the incomplete window, if there is one."""
        pending = self._builder.take_pending()
        if pending is not None and self.schema is not None:
            log.records(pending, self.name, self.schema.generation)

    @property
    def pending_steps(self) -> int:
        """Steps not yet in the log."""
        return self._builder.pending_steps

    def last_step_plus_one(self) -> int:
        """The step after the last one fed; 0 before the first."""
        return 0 if self.last_step is None else self.last_step + 1

    def incidents(self) -> list[pb.Incident]:
        """All incidents of the group, those of earlier generations first."""
        if self._tracker is None:
            return self.former_incidents
        return [*self.former_incidents, *(self._health_guard.run(self._tracker.to_proto) or ())][-MAX_INCIDENTS:]

    def _count_bad(self, windows: Windows) -> int:
        assert self.schema is not None
        expected = np.tile([v.expected_none for v in self.schema.variables], self.facts.replicas)
        ill = windows.nan_steps + windows.inf_steps - windows.handled_steps
        ill = ill + np.where(expected, 0, windows.none_steps)
        return int(ill.max(axis=1).sum())

    def _end_generation(self) -> None:
        self.former_incidents = self.incidents()


OnIncident = Callable[[Incident], object]
