"""The state of each variable at the end of what a tracker was fed: the worst over its replicas."""

import numpy as np

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.states import State
from tb_gradhealth.health.layout import ROLES
from tb_gradhealth.health.results import STATE_ORDER, VariableHealth
from tb_gradhealth.health.rules import Rule
from tb_gradhealth.health.tracker import Tracker

_BY_ROLE = {
    pb.Variable.FROZEN: ("frozen", "frozen"),
    pb.Variable.NOT_HANDED_OVER: ("untracked", "not_handed_over"),
    pb.Variable.UNTRACKED: ("untracked", "untracked"),
}


def variables_of(tracker: Tracker) -> tuple[VariableHealth, ...]:
    """One entry for each variable of the tracker's group, in its order."""
    layout = tracker.layout
    spoken = _spoken(tracker)
    norms = layout.fold(tracker.last_norm)
    states = layout.fold(tracker.last_state).max(axis=0)
    found = []
    for index, variable in enumerate(layout.schema.variables):
        state, since, rule, evidence = _state(tracker, index, variable, int(states[index]), spoken)
        column = norms[:, index]
        norm = float(np.max(column)) if np.isfinite(column).all() else None
        found.append(
            VariableHealth(
                index=index,
                name=variable.name,
                group=layout.schema.group,
                shape=tuple(variable.shape),
                dtype=variable.dtype,
                size=variable.size,
                layer=variable.layer,
                role=ROLES.get(variable.role, "trained"),
                expected_none=variable.expected_none,
                state=state,
                since=since,
                norm=norm,
                rule=rule,
                evidence=evidence,
            )
        )
    return tuple(found)


def _spoken(tracker: Tracker) -> dict[int, tuple[Rule, int]]:
    """For each variable that some rule calls ill now: the gravest rule and the row it spoke of."""
    spoken: dict[int, tuple[Rule, int]] = {}
    for rule in sorted(tracker.rules, key=lambda r: STATE_ORDER.index(r.kind), reverse=True):
        if rule.whole_group or not (now := rule.now()).any():
            continue
        rows = np.flatnonzero(now)
        for row in rows[np.argsort(rule.since()[rows], kind="stable")][::-1]:
            spoken[int(row) % tracker.layout.variables] = rule, int(row)
    return spoken


def _state(
    tracker: Tracker, index: int, variable: pb.Variable, last: int, spoken: dict[int, tuple[Rule, int]]
) -> tuple[str, int | None, str, dict[str, float]]:
    if variable.role in _BY_ROLE:
        state, rule_name = _BY_ROLE[variable.role]
        return state, None, rule_name, {}
    if index in spoken:
        rule, row = spoken[index]
        return rule.kind, int(rule.since()[row]), rule.name, rule.variable_evidence(row)
    if last == State.NOT_RECORDED:
        return "not_recorded", None, "not_recorded", {}
    return "ok", None, "", {}
