"""The health of a whole run, from its log. Pure: the same log gives the same answer, wherever it is asked.

The stored windows go through the same rules as during training. Where windows are wide, the incidents that the writer
stored while it saw every step give the exact steps.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.causes import Cause
from tb_gradhealth.format.log import GroupLog, RunLog
from tb_gradhealth.health import words
from tb_gradhealth.health.causes import explained
from tb_gradhealth.health.results import Incident, RunHealth, VariableHealth
from tb_gradhealth.health.roles import role_incidents
from tb_gradhealth.health.stored import with_stored
from tb_gradhealth.health.thresholds import Thresholds
from tb_gradhealth.health.tracker import Tracker
from tb_gradhealth.health.variables import variables_of
from tb_gradhealth.health.verdict import sentence_of, verdict_of

_SEVERITIES = ("bad", "watch", "info")


def assess(run: RunLog, thresholds: Thresholds | None = None) -> RunHealth:
    """The verdict on a run, the state of each variable, and what happened.

    Args:
      run: as `format.reader.read_run` or `format.log.assemble` give it.
      thresholds: limits of the rules; the defaults where None.
    """
    causes = tuple(Cause.from_proto(cause) for cause in run.causes)
    trackers = {name: _tracked(group, thresholds) for name, group in run.groups.items()}
    variables = tuple(v for tracker in trackers.values() for v in variables_of(tracker))
    incidents = _incidents(run, trackers, causes)
    variables = tuple(_with_exact_start(v, incidents) for v in variables)
    begun = [t for t in trackers.values() if t.steps]
    verdict = verdict_of(variables, incidents) if begun else None
    return RunHealth(
        verdict=verdict,
        sentence=sentence_of(verdict, variables, incidents) if run.newer_format is None else run.problems[0],
        first_step=min((t.first_step for t in begun if t.first_step is not None), default=None),
        last_step=max((t.last_step for t in begun if t.last_step is not None), default=None),
        steps=max((t.steps for t in begun), default=0),
        variables=variables,
        incidents=incidents,
        causes=causes,
        checked=tuple(_checked(name, tracker) for name, tracker in trackers.items()),
        problems=tuple(run.problems),
        newer_format=run.newer_format,
    )


def _tracked(group: GroupLog, thresholds: Thresholds | None) -> Tracker:
    tracker = Tracker(group.schema, thresholds)
    if len(group.windows):
        tracker.feed(group.windows)
    return tracker


def _incidents(run: RunLog, trackers: Mapping[str, Tracker], causes: Sequence[Cause]) -> tuple[Incident, ...]:
    found: list[Incident] = []
    for name, tracker in trackers.items():
        stored = [i for i in run.incidents if i.group == name]
        own = with_stored(tracker.incidents(), stored, run.groups[name])
        found += own
        if tracker.steps:
            found += role_incidents(tracker)
    found.sort(key=lambda i: (_SEVERITIES.index(i.severity), i.first_step))
    return explained(found, causes)


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
    return f"{name}: {variables} at {words.plural(tracker.steps, 'step')}: {what}"
