"""The health of a run that is growing: fed with what is new, asked whenever somebody looks.

Promises: feeding the windows of a group in any portions gives the same answer as feeding them all at once; what is kept
and what an answer costs depend on the variables and on what was found, not on how long the run has lasted.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.causes import Cause
from tb_gradhealth.format.log import union_schema
from tb_gradhealth.format.windows import Array, Windows
from tb_gradhealth.health import words
from tb_gradhealth.health.causes import explained
from tb_gradhealth.health.errors import error_incidents
from tb_gradhealth.health.results import Incident, RunHealth, VariableHealth
from tb_gradhealth.health.roles import role_incidents
from tb_gradhealth.health.stored import with_stored
from tb_gradhealth.health.thresholds import GivenThresholds
from tb_gradhealth.health.timeline import Timeline
from tb_gradhealth.health.tracker import Tracker
from tb_gradhealth.health.variables import variables_of
from tb_gradhealth.health.verdict import sentence_of, verdict_of

_SEVERITIES = ("bad", "watch", "info")


class Assessment:
    """The rules over all groups of one run.

    Args:
      generations: for each group its schemas as stored, oldest first, at least one. Windows are over the rows of their
        `format.log.union_schema`. A new generation, or steps that go back, need a new assessment.
      thresholds: limits of the rules; those that the run was recorded with where None.

    Example:
      >>> from tb_gradhealth.format import gradhealth_pb2 as pb
      >>> schema = pb.Schema(group="adam", variables=[pb.Variable(name="kernel")])
      >>> Assessment({"adam": [schema]}).health().sentence
      'No step has been recorded yet.'
    """

    def __init__(self, generations: Mapping[str, Sequence[pb.Schema]], thresholds: GivenThresholds = None) -> None:
        self._groups = {name: _Group(schemas, thresholds) for name, schemas in generations.items()}

    def feed(self, group: str, windows: Windows) -> list[Incident]:
        """Takes in the next windows of a group, in order of steps.

        Returns:
          What `Tracker.feed` says: the incidents that these windows made known.

        Raises:
          KeyError: there is no such group.
          ValueError: the windows have another number of rows than the group.
        """
        mine = self._groups[group]
        found = mine.tracker.feed(windows) if len(windows) else []
        mine.timeline.add(windows)
        return found

    def health(
        self,
        *,
        incidents: Sequence[pb.Incident] = (),
        causes: Sequence[pb.Cause] = (),
        problems: Sequence[str] = (),
        newer_format: int | None = None,
    ) -> RunHealth:
        """The verdict on what was fed so far, the state of each variable, and what happened.

        Args:
          incidents, causes, problems, newer_format: of the run, see `format.log.RunLog`.
        """
        known = tuple(Cause.from_proto(cause) for cause in causes)
        first, last = self._extent()
        failed = error_incidents(known, first, last)
        found = [*explained(self._incidents(incidents), known), *failed]
        found.sort(key=lambda i: (_SEVERITIES.index(i.severity), i.first_step))
        variables = tuple(
            _with_exact_start(v, found) for group in self._groups.values() for v in variables_of(group.tracker)
        )
        verdict = verdict_of(variables, found) if first is not None or found else None
        return RunHealth(
            verdict=verdict,
            sentence=sentence_of(verdict, variables, found) if newer_format is None else problems[0],
            first_step=first,
            last_step=last,
            steps=max((group.tracker.steps for group in self._groups.values()), default=0),
            variables=variables,
            incidents=tuple(found),
            causes=known,
            checked=tuple(_checked(name, group.tracker) for name, group in self._groups.items()),
            problems=tuple(problems),
            newer_format=newer_format,
        )

    def _incidents(self, stored: Sequence[pb.Incident]) -> list[Incident]:
        found: list[Incident] = []
        for name, group in self._groups.items():
            tracker = group.tracker
            mine = [i for i in stored if i.group == name]
            found += with_stored(tracker.incidents(), mine, tracker.layout, group.places, group.timeline)
            if tracker.steps:
                found += role_incidents(tracker)
        return found

    def _extent(self) -> tuple[int | None, int | None]:
        """The first and the last recorded step of all groups, None where nothing was recorded."""
        begun = [group.tracker for group in self._groups.values() if group.tracker.steps]
        first = min((t.first_step for t in begun if t.first_step is not None), default=None)
        return first, max((t.last_step for t in begun if t.last_step is not None), default=None)


class _Group:
    """What is kept of one group."""

    def __init__(self, schemas: Sequence[pb.Schema], thresholds: GivenThresholds) -> None:
        union, places = union_schema(schemas)
        self.places: dict[int, Array] = {s.generation: place for s, place in zip(schemas, places, strict=True)}
        self.tracker = Tracker(union, thresholds)
        self.timeline = Timeline()


def _with_exact_start(variable: VariableHealth, incidents: Sequence[Incident]) -> VariableHealth:
    """A state that began inside a wide window began when its incident did, where that is known better."""
    if variable.since is None:
        return variable
    starts = [
        i.first_step
        for i in incidents
        if i.kind == variable.state and i.group == variable.group and i.open and variable.name in i.variables
    ]
    exact = [s for s in starts if s > variable.since]
    return dataclasses.replace(variable, since=min(exact)) if exact and len(exact) == len(starts) else variable


def _checked(name: str, tracker: Tracker) -> str:
    what = ", ".join(rule.checks for rule in tracker.rules)
    variables = words.plural(sum(v.role == pb.Variable.TRAINED for v in tracker.layout.schema.variables), "variable")
    limits = ", ".join(f"{name} = {words.number(value)}" for name, value in tracker.thresholds.changed().items())
    spared = ", ".join(tracker.layout.schema.ignore)
    return (
        f"{name}: {variables} at {words.plural(tracker.steps, 'step')}: {what}"
        + (f"; with {limits}" if limits else "")
        + (f"; not held against it, as told (ignore=): {spared}" if spared else "")
    )
