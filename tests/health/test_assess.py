"""A whole run: exact steps where windows are wide, what the writer noted, causes, several groups, generations."""

import dataclasses

import numpy as np
from health_world import NAN, run_of, schema_of, steps_of, widened

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.causes import Cause
from tb_gradhealth.format.log import GroupLog, RunLog, spread, union_schema
from tb_gradhealth.health import Incident, Tracker, assess
from tb_gradhealth.health.causes import cause_of
from tb_gradhealth.health.layout import Layout
from tb_gradhealth.health.stored import with_stored
from tb_gradhealth.health.timeline import Timeline


def cause(kind="nan", **fields):
    return Cause(**{"kind": kind, "reason_id": "r", "reason": "because", "op": "Sqrt", "group": "adam", **fields})


def incident_of(rule, first=0):
    who = {"rows": (0,), "variables": ("layer0/kernel",), "severity": "watch", "evidence": {}, "sentence": "."}
    return Incident("exploding", "adam", first, 15, 16 - first, **who, open=True, generation=1, rule=rule)


def recorded(norms, width, schema=None):
    """As the recorder leaves it: wide windows, and the incidents of a tracker that saw every step."""
    windows = steps_of(norms)
    schema = schema or schema_of(windows.row_count)
    tracker = Tracker(schema)
    tracker.feed(windows)
    return run_of(widened(windows, width), schema, incidents=tracker.to_proto())


def test_the_writer_dates_a_none_that_came_and_went_within_a_window():
    norms = [[1.0, None if 37 <= t < 45 else 1.0] for t in range(128)]
    health = assess(recorded(norms, 64))
    (incident,) = health.incidents
    assert (incident.kind, incident.first_step, incident.last_step, incident.steps) == ("none", 37, 44, 8)
    assert "from step 37 to 44" in incident.sentence


def test_the_writer_dates_a_variable_that_dies_within_a_window():
    norms = [[1.0, 1.0 if t < 70 else 0.0] for t in range(256)]
    health = assess(recorded(norms, 64))
    assert health.variables[1].state == "zero" and health.variables[1].since == 70


def test_an_incident_that_only_the_writer_saw_is_kept():
    noise = np.exp(np.random.default_rng(0).normal(0, 0.2, (640, 4)))
    swing = np.where(np.arange(640) % 2, 10.0, 1.0)
    swing[300:] = 1.0
    windows = steps_of((noise * swing[:, None]).tolist(), loss=np.full(640, 1.0))
    tracker = Tracker(schema_of(4))
    tracker.feed(windows)
    assert "oscillating" in {i.kind for i in tracker.incidents()}
    wide = widened(windows, 32)
    assert "oscillating" not in {i.kind for i in assess(run_of(wide)).incidents}
    kept = [i for i in assess(run_of(wide, incidents=tracker.to_proto())).incidents if i.kind == "oscillating"]
    assert len(kept) == 1 and not kept[0].open and kept[0].severity == "watch"


def test_a_stored_incident_keeps_its_severity_and_its_rule():
    unread = {"kind": "exploding", "group": "adam", "generation": 1, "first_step": 90, "last_step": 95, "rows": [1]}
    told = pb.Incident(**unread, severity="bad", rule="exploding_growth")
    (incident,) = assess(run_of(steps_of([[1.0, 1.0]] * 20), incidents=[told])).incidents
    assert (incident.severity, incident.rule) == ("bad", "exploding_growth")
    (incident,) = assess(run_of(steps_of([[1.0, 1.0]] * 20), incidents=[pb.Incident(**unread)])).incidents
    assert (incident.severity, incident.rule) == ("watch", "exploding")  # a log from before they were stored


def test_of_two_rules_of_one_kind_the_writer_dates_its_own():
    found = [incident_of(rule="exploding_growth"), incident_of(rule="update_ratio_high")]
    message = incident_of(rule="update_ratio_high", first=5).to_proto()
    timeline = Timeline()
    timeline.add(widened(steps_of([[1.0]] * 16), 16))
    layout = Layout.of(schema_of(1))
    dated = with_stored(found, [message], layout, {1: np.arange(1)}, timeline)
    assert [i.first_step for i in dated] == [0, 5]
    message.rule = ""
    assert [i.first_step for i in with_stored(found, [message], layout, {1: np.arange(1)}, timeline)] == [5, 0]


def test_an_incident_whose_steps_were_trained_anew_is_forgotten():
    gone = pb.Incident(kind="nan", group="adam", generation=1, first_step=5, last_step=6, steps=2, rows=[0], open=True)
    health = assess(run_of(steps_of([[1.0, 1.0]] * 20), incidents=[gone]))
    assert health.verdict == "healthy" and not health.incidents


def test_an_incident_whose_records_are_missing_is_kept():
    seen = pb.Incident(
        kind="nan", group="adam", generation=1, first_step=90, last_step=95, steps=6, rows=[1], open=True
    )
    health = assess(run_of(steps_of([[1.0, 1.0]] * 20), incidents=[seen]))
    assert health.verdict == "unhealthy"
    assert [(i.kind, i.first_step, i.variables) for i in health.incidents] == [("nan", 90, ("layer1/kernel",))]


def test_a_cause_goes_to_the_incident_of_its_kind_and_variables():
    stored = [
        cause("none", variables=("layer0/kernel",), op="ArgMax"),
        cause("nan", variables=("layer1/kernel",), step=1),
        cause("nan", variables=("layer1/kernel",), step=1, certainty="guess", op="Mul"),
    ]
    run = run_of(steps_of([[None, 1.0], [None, NAN]]), causes=[c.to_proto() for c in stored])
    health = assess(run)
    assert {i.kind: i.cause.op for i in health.incidents} == {"none": "ArgMax", "nan": "Sqrt"}
    assert health.causes == tuple(stored)


def test_a_cause_of_other_variables_or_of_a_later_step_explains_nothing():
    incident = assess(run_of(steps_of([[1.0, NAN], [1.0, 1.0]]))).incidents[0]
    assert cause_of(incident, [cause(variables=("layer1/kernel",), step=0)]) is not None
    assert cause_of(incident, [cause(variables=("layer0/kernel",), step=0)]) is None
    assert cause_of(incident, [cause(variables=("layer1/kernel",), step=9)]) is None
    assert cause_of(incident, [dataclasses.replace(cause(), group="other")]) is None


def test_an_inf_explains_a_nan_where_nothing_else_does():
    incident = assess(run_of(steps_of([[NAN]]))).incidents[0]
    overflow, own = cause("inf", op="Exp"), cause("nan", op="Log")
    assert cause_of(incident, [overflow]).op == "Exp"
    assert cause_of(incident, [overflow, own]).op == "Log"


def test_each_group_is_judged_by_itself_and_the_worst_decides():
    groups = {}
    for name, norms in (("critic", [[1.0]] * 6), ("maker", [[1.0], [NAN]])):
        windows = steps_of(norms)
        schema = schema_of(1)
        schema.group = name
        groups[name] = GroupLog(schema, [schema], windows, windows.select(slice(0)))
    health = assess(RunLog(groups))
    assert health.verdict == "unhealthy"
    assert [(v.group, v.state) for v in health.variables] == [("critic", "ok"), ("maker", "nan")]
    assert (health.first_step, health.last_step, health.steps) == (0, 5, 6)
    assert [line.split(":")[0] for line in health.checked] == ["critic", "maker"]


def test_a_variable_frozen_later_is_frozen_and_one_thawed_starts_anew():
    before, after = schema_of(2), schema_of([{"role": pb.Variable.FROZEN}, {}, {}])
    after.generation = 2
    union, places = union_schema([before, after])
    first = spread(steps_of([[1.0, 1.0]] * 50), places[0], 3)
    then = spread(steps_of([["-", 1.0, 50.0]] * 50, first=50), places[1], 3)
    windows = type(first).concatenate([first, then])
    health = assess(RunLog({"adam": GroupLog(union, [before, after], windows, windows.select(slice(0)))}))
    assert [v.state for v in health.variables] == ["frozen", "ok", "ok"]
    assert health.verdict == "healthy"


def test_a_newer_format_is_told_and_not_judged():
    health = assess(RunLog({}, problems=["This run was written in format 9."], newer_format=9))
    assert (health.verdict, health.newer_format) == (None, 9)
    assert health.sentence == "This run was written in format 9."


def test_an_empty_replica_is_no_zero():
    schema = schema_of(1, replicas=2)
    assert assess(run_of(steps_of([[1.0, 0.0]] * 3), schema)).variables[0].state == "ok"
    assert assess(run_of(steps_of([[0.0, 0.0]] * 3), schema)).variables[0].state == "zero"


def test_what_a_tracker_holds_does_not_grow_with_the_run():
    generator = np.random.default_rng(0)
    rows = 10
    tracker = Tracker(schema_of(rows))
    for portion in range(20):
        norms = generator.lognormal(0, 1, (200, rows))
        norms[generator.random(norms.shape) < 0.01] = NAN
        tracker.feed(steps_of(norms.tolist(), first=portion * 10_000))
        held = [v for rule in tracker.rules for v in vars(rule).values() if isinstance(v, (list, tuple, dict))]
        assert max(map(len, held)) < 100
        assert max(len(rule.episodes.all) for rule in tracker.rules) <= 48
        assert len(tracker.incidents()) <= 200
