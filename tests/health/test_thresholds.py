"""The user's own limits: stored with the run, overridden by the caller, told in what was checked, and obeyed."""

import numpy as np
import pytest
from health_world import run_of, schema_of, steps_of

from tb_gradhealth.health import Thresholds, Tracker, assess

DEEP = 8


def shrinking():
    """Norms of a stack that loses half a decade with each layer towards its input."""
    wobble = np.exp(np.random.default_rng(0).normal(0, 0.2, (200, DEEP)))
    return wobble * 10.0 ** (-0.5 * np.arange(DEEP)[::-1])


def kinds(health):
    return sorted({i.kind for i in health.incidents if i.severity != "info"})


def test_a_run_is_judged_by_the_thresholds_it_was_recorded_with_unless_others_are_given():
    given = Thresholds(vanishing_decades=2.0, zero_steps=20)
    schema = schema_of(DEEP, thresholds=given.changed())
    assert Tracker(schema).thresholds == given
    run = run_of(steps_of(shrinking().tolist(), loss=2.3), schema)
    assert kinds(assess(run)) == ["vanishing"]
    assert kinds(assess(run, {"zero_steps": 5})) == ["vanishing"]  # the other stays as it was recorded
    assert kinds(assess(run, {"vanishing_decades": 5.0})) == kinds(assess(run, Thresholds(vanishing_decades=5.0))) == []


def test_what_was_checked_tells_of_changed_limits_and_of_what_was_left_out():
    run = run_of(steps_of([[1.0, 1.0]]), schema_of(2, ignore=["head", "pooler/bias"]))
    (checked,) = assess(run, {"spike_factor": 20.0}).checked
    assert checked.endswith("; with spike_factor = 20; not held against it, as told (ignore=): head, pooler/bias")
    (checked,) = assess(run_of(steps_of([[1.0]]))).checked
    assert ";" not in checked


def test_only_changed_thresholds_are_stored_and_strange_ones_left_out():
    assert Thresholds().changed() == {}
    assert Thresholds(spike_factor=20.0).changed() == {"spike_factor": 20.0}
    strange = schema_of(1, thresholds={"of_the_future": 3.0, "spike_factor": -1.0, "zero_steps": 7.0})
    assert Thresholds.of(strange) == Thresholds(zero_steps=7) and isinstance(Thresholds.of(strange).zero_steps, int)


def test_an_unknown_threshold_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"no threshold 'spikes'. There are: zero_steps, .*, clip_excess\."):
        Thresholds().but({"spikes": 3.0})


def test_thresholds_are_obeyed():
    run = run_of(steps_of(shrinking().tolist(), loss=2.3))
    assert "vanishing" in kinds(assess(run, Thresholds(vanishing_decades=2.0)))
    assert "vanishing" not in kinds(assess(run, Thresholds(vanishing_decades=4.0)))
