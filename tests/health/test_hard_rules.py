"""None, NaN, Inf, zero, handled overflow, and what a variable's place says: state, first step and verdict."""

import numpy as np
import pytest
from health_world import INF, NAN, run_of, schema_of, steps_of, widened

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.health import Thresholds, Tracker, assess


def states(health):
    return [v.state for v in health.variables]


def only(incidents, kind):
    (found,) = [i for i in incidents if i.kind == kind]
    return found


def test_a_run_without_steps_has_no_verdict():
    health = assess(run_of(steps_of([[1.0, 1.0]]).select(slice(0))))
    assert health.verdict is None
    assert health.first_step is None and health.steps == 0
    assert states(health) == ["not_recorded", "not_recorded"]


def test_finite_gradients_are_healthy():
    health = assess(run_of(steps_of([[1.0, 2.0]] * 3)))
    assert health.verdict == "healthy"
    assert states(health) == ["ok", "ok"]
    assert health.variables[1].norm == 2.0
    assert not health.incidents
    assert "2 trained variables" in health.sentence


@pytest.mark.parametrize(("value", "kind"), [(None, "none"), (NAN, "nan"), (INF, "inf")])
def test_none_nan_and_inf_in_the_last_step_make_the_run_unhealthy(value, kind):
    health = assess(run_of(steps_of([[1.0, 1.0], [1.0, 1.0], [1.0, value]], first=10)))
    assert health.verdict == "unhealthy"
    assert states(health) == ["ok", kind]
    assert health.variables[1].since == 12
    assert health.variables[1].norm is None
    incident = only(health.incidents, kind)
    assert (incident.first_step, incident.last_step, incident.steps) == (12, 12, 1)
    assert incident.variables == ("layer1/kernel",)
    assert incident.severity == "bad" and incident.open


@pytest.mark.parametrize(("value", "kind"), [(None, "none"), (NAN, "nan"), (INF, "inf")])
def test_what_has_passed_is_to_watch(value, kind):
    health = assess(run_of(steps_of([[1.0, 1.0], [1.0, value], [1.0, 1.0]])))
    assert health.verdict == "watch"
    assert states(health) == ["ok", "ok"]
    incident = only(health.incidents, kind)
    assert not incident.open
    assert (incident.first_step, incident.last_step, incident.steps) == (1, 1, 1)
    assert "passed" in health.sentence


def test_nan_outranks_inf_and_inf_outranks_none():
    health = assess(run_of(steps_of([[None, INF, NAN, 1.0]])))
    assert states(health) == ["none", "inf", "nan", "ok"]
    assert [i.kind for i in health.incidents] == ["nan", "inf", "none"]


def test_variables_that_follow_within_steps_share_an_incident_first_ill_first():
    rows = [[1.0, 1.0, 1.0], [1.0, 1.0, NAN], [NAN, NAN, NAN], [NAN, NAN, NAN]]
    health = assess(run_of(steps_of(rows)))
    incident = only(health.incidents, "nan")
    assert incident.variables[0] == "layer2/kernel"
    assert set(incident.variables) == {f"layer{i}/kernel" for i in range(3)}
    assert (incident.first_step, incident.steps) == (1, 3)


def test_nan_that_comes_again_and_again_has_not_passed_after_one_clean_step():
    rows = [[NAN if t % 10 == 9 else 1.0] for t in range(42)]
    health = assess(run_of(steps_of(rows)))
    assert states(health) == ["nan"] and health.variables[0].since == 9
    assert health.verdict == "unhealthy"
    long_clean = assess(run_of(steps_of([*rows, *[[1.0]] * 60])))
    assert states(long_clean) == ["ok"] and long_clean.verdict == "watch"
    assert only(long_clean.incidents, "nan").steps == 4


def test_an_overflow_that_the_scaler_handled_is_harmless():
    windows = steps_of([[INF, INF], [INF, NAN], [1.0, 1.0]], handled=True)
    health = assess(run_of(windows))
    assert health.verdict == "healthy"
    assert only(health.incidents, "overflow").severity == "info"
    now = assess(run_of(steps_of([[1.0, INF]], handled=True)))
    assert states(now) == ["ok", "overflow"] and now.verdict == "healthy"


def test_an_overflow_that_never_stops_is_to_watch():
    health = assess(run_of(steps_of([[INF]] * 60, handled=True)))
    assert health.verdict == "watch"
    assert only(health.incidents, "overflow").severity == "watch"


def test_zero_from_the_start_is_zero_and_to_watch_from_the_first_step_on():
    health = assess(run_of(steps_of([[0.0, 1.0]])))
    assert states(health) == ["zero", "ok"]
    assert health.verdict == "watch"
    assert health.variables[0].since == 0
    assert health.variables[0].norm == 0.0


def test_zero_at_step_0_only_is_a_zero_initialised_layer_and_harmless():
    health = assess(run_of(steps_of([[0.0, 1.0], [0.1, 1.0], [0.2, 1.0]])))
    assert states(health) == ["ok", "ok"] and health.verdict == "healthy"


def test_zero_at_step_0_only_is_harmless_in_a_wide_window_too():
    rows = [[0.0, 1.0]] + [[0.1, 1.0]] * 63
    assert assess(run_of(widened(steps_of(rows), 16))).verdict == "healthy"


def test_a_variable_that_dies_later_is_to_watch_after_ten_steps():
    alive = [[1.0, 1.0]] * 20
    briefly = assess(run_of(steps_of([*alive, *[[0.0, 1.0]] * 9])))
    assert states(briefly) == ["zero", "ok"] and briefly.verdict == "healthy"
    dead = assess(run_of(steps_of([*alive, *[[0.0, 1.0]] * 10])))
    assert states(dead) == ["zero", "ok"] and dead.verdict == "watch"
    assert dead.variables[0].since == 20


def test_a_model_that_dies_as_a_whole_is_to_watch_after_five_steps():
    alive = [[1.0, 1.0]] * 3
    assert assess(run_of(steps_of([*alive, *[[0.0, 0.0]] * 4]))).verdict == "healthy"
    dead = assess(run_of(steps_of([*alive, *[[0.0, 0.0]] * 5])))
    assert dead.verdict == "watch" and [v.since for v in dead.variables] == [3, 3]


def test_zeros_that_come_and_go_are_a_habit():
    rows = [[0.0 if t % 7 < 2 else 1.0, 1.0] for t in range(100)]
    health = assess(run_of(steps_of(rows)))
    assert health.verdict == "healthy"
    assert only(health.incidents, "zero").severity == "info"


def test_a_layer_used_every_other_step_is_a_habit():
    rows = [[None if t % 2 else 1.0, 1.0] for t in range(40)]
    health = assess(run_of(steps_of(rows)))
    assert health.verdict == "healthy" and states(health) == ["ok", "ok"]
    gone = assess(run_of(steps_of([*rows, *[[None, 1.0]] * 10])))
    assert gone.verdict == "unhealthy" and states(gone) == ["none", "ok"]


def test_a_layer_used_every_other_step_is_a_habit_in_wide_windows_too():
    rows = [[None if t % 2 else 1.0, 1.0] for t in range(64)]
    health = assess(run_of(widened(steps_of(rows), 8)))
    assert health.verdict == "healthy" and states(health) == ["ok", "ok"]


def test_a_bias_alone_at_zero_is_harmless_where_its_kernel_learns():
    pair = [{"layer": "dense"}, {"name": "dense/bias", "layer": "dense", "shape": [4], "size": 4}]
    rows = [[1.0, 0.0]] * 30
    health = assess(run_of(steps_of(rows), schema_of(pair)))
    assert health.verdict == "healthy" and states(health) == ["ok", "zero"]
    both = assess(run_of(steps_of([[0.0, 0.0]] * 30), schema_of(pair)))
    assert both.verdict == "watch"


def test_zeros_with_nothing_left_to_learn_are_harmless():
    rows = [[1.0, 1.0]] * 20 + [[0.0, 0.0]] * 30
    learned = steps_of(rows, loss=[1.0] * 20 + [0.0] * 30)
    assert assess(run_of(learned)).verdict == "healthy"
    stuck = steps_of(rows, loss=[1.0] * 50)
    assert assess(run_of(stuck)).verdict == "watch"
    never = steps_of([[0.0, 0.0]] * 30, loss=[0.0] * 30)
    assert assess(run_of(never)).verdict == "watch"


def test_an_expected_none_is_shown_and_not_held_against_the_run():
    schema = schema_of([{}, {"expected_none": True}])
    health = assess(run_of(steps_of([[1.0, None]] * 3), schema))
    assert health.verdict == "healthy"
    assert states(health) == ["ok", "none"]
    assert health.variables[1].rule == "expected_none" and health.variables[1].expected_none
    assert only(health.incidents, "none").severity == "info"
    with_nan = assess(run_of(steps_of([[1.0, NAN]]), schema))
    assert with_nan.verdict == "unhealthy"


def test_roles_are_kept_apart():
    roles = [{}, {"role": pb.Variable.FROZEN}, {"role": pb.Variable.NOT_HANDED_OVER}, {"role": pb.Variable.UNTRACKED}]
    health = assess(run_of(steps_of([[1.0, "-", "-", "-"]]), schema_of(roles)))
    assert states(health) == ["ok", "frozen", "untracked", "untracked"]
    assert [v.rule for v in health.variables] == ["", "frozen", "not_handed_over", "untracked"]
    assert [v.role for v in health.variables] == ["trained", "frozen", "not_handed_over", "untracked"]
    assert health.verdict == "watch"
    frozen_only = assess(run_of(steps_of([[1.0, "-"]]), schema_of(roles[:2])))
    assert frozen_only.verdict == "healthy" and not frozen_only.incidents


def test_the_worst_replica_speaks_for_the_variable():
    schema = schema_of(2, replicas=2)
    health = assess(run_of(steps_of([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, NAN, 4.0]]), schema))
    assert states(health) == ["nan", "ok"]
    incident = only(health.incidents, "nan")
    assert incident.rows == (2,) and incident.variables == ("layer0/kernel",)
    assert health.variables[1].norm == 4.0


def test_two_variables_of_one_name_are_both_seen():
    schema = schema_of([{"name": "w"}, {"name": "w"}])
    health = assess(run_of(steps_of([[None, None]]), schema))
    assert states(health) == ["none", "none"]
    assert len(only(health.incidents, "none").variables) == 2


def test_wide_windows_keep_the_exact_first_nan():
    rows = [[1.0, 1.0]] * 37 + [[1.0, NAN]] * 27
    health = assess(run_of(widened(steps_of(rows, first=100), 16)))
    assert health.variables[1].since == 137
    assert only(health.incidents, "nan").steps == 27


def test_wide_windows_date_a_none_that_lasts_to_the_end_of_its_first_window():
    rows = [[1.0, 1.0]] * 37 + [[1.0, None]] * 27
    health = assess(run_of(widened(steps_of(rows, first=100), 16)))
    assert health.variables[1].since == 137 and health.verdict == "unhealthy"


@pytest.mark.parametrize("portion", [1, 3, 7, 64])
def test_the_portions_in_which_windows_come_do_not_matter(portion):
    generator = np.random.default_rng(0)
    choices = np.array([1.0, 2.0, 0.0, np.nan, np.inf])
    rows = choices[generator.choice(5, p=[0.45, 0.45, 0.06, 0.02, 0.02], size=(200, 6))]
    windows = steps_of(rows.tolist())
    whole, parts = Tracker(schema_of(6)), Tracker(schema_of(6))
    announced = {(i.kind, i.first_step) for i in whole.feed(windows)}
    told = []
    for low in range(0, len(windows), portion):
        told += [(i.kind, i.first_step) for i in parts.feed(windows.select(slice(low, low + portion)))]
    assert parts.incidents() == whole.incidents()
    assert len(told) == len(set(told)) and announced <= set(told)


def test_every_incident_is_announced_once_and_harmless_ones_never():
    tracker = Tracker(schema_of(2))
    told = []
    rows = [[0.0, 1.0], [1.0, 1.0], [1.0, None], [1.0, None], [1.0, 1.0], [NAN, 1.0], [NAN, NAN], [NAN, NAN]]
    for t, row in enumerate(rows):
        told += [(t, i.kind) for i in tracker.feed(steps_of([row], first=t))]
    assert told == [(2, "none"), (5, "nan")]
    assert {m.kind for m in tracker.to_proto()} == {"none", "nan"}


def test_incidents_are_bounded_however_often_it_happens():
    tracker = Tracker(schema_of(1))
    for burst in range(300):
        tracker.feed(steps_of([[NAN], [1.0]], first=burst * 1_000_000))
    incidents = tracker.incidents()
    assert len(incidents) <= 200
    assert sum(i.steps for i in incidents) == 300


def test_windows_of_another_width_are_refused_with_what_to_do():
    with pytest.raises(ValueError, match=r"3 rows, where 2 variables on 1 replicas make 2.*new Tracker"):
        Tracker(schema_of(2)).feed(steps_of([[1.0, 1.0, 1.0]]))


def test_thresholds_must_be_positive():
    with pytest.raises(ValueError, match=r"Thresholds.zero_steps must be greater than 0. Received: zero_steps=0"):
        Thresholds(zero_steps=0)
    dead = run_of(steps_of([[1.0]] * 5 + [[0.0]] * 4))
    assert assess(dead).verdict == "healthy"
    assert assess(dead, Thresholds(zero_steps=3)).verdict == "watch"
