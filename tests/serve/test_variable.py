"""One variable: latest, totals, replicas, flight."""

import numpy as np
from serve_world import INF, NAN, NONE, OK, ZERO, FakeProvider, random_steps, schema, steps, where

from tb_gradhealth.serve.source import Source
from tb_gradhealth.serve.store import Store
from tb_gradhealth.serve.variable import variable


def about(provider: FakeProvider, index: int) -> dict:
    run, _ = Store(Source(provider)).run(where(), "r")
    return variable(run.tables["adam"], run.flights("adam"), index)


def written(*windows, names=("a", "b"), replicas=1, flights=()) -> FakeProvider:
    provider = FakeProvider()
    writer = provider.writer("r")
    writer.schema(schema(names, replicas=replicas))
    for part in windows:
        writer.records(part, "adam", 1_000)
    for number, part in enumerate(flights):
        writer.flight(part, "adam", 1_000, number)
    return provider


def test_totals_count_every_step_of_the_variable() -> None:
    states = np.array([[OK, NAN], [OK, NONE], [OK, ZERO], [OK, INF], [OK, INF]])
    found = about(written(steps(10, states, [[1, 9], [2, 9], [3, 9], [9, 9], [5, 9]])), 1)
    assert found["name"] == "b"
    assert found["totals"] == {
        "steps": 5, "none": 1, "zero": 1, "nan": 1, "inf": 2, "handled": 0, "norm_max": 0.0, "norm_max_step": 12,
        "norm_median": 0.0, "first_bad_step": 10, "nan_elements": 5, "inf_elements": 2,
    }  # fmt: skip
    healthy = about(written(steps(10, states, [[1, 9], [2, 9], [3, 9], [9, 9], [5, 9]])), 0)["totals"]
    assert (healthy["norm_max"], healthy["norm_max_step"], healthy["norm_median"]) == (9.0, 13, 3.0)
    assert healthy["first_bad_step"] is None


def test_the_median_weighs_windows_by_their_finite_steps() -> None:
    wide = steps(0, np.full((9, 1), OK), 5.0).merged(np.array([0]))
    narrow = steps(9, np.full((4, 1), OK), 1.0)
    assert about(written(wide, narrow, names=("a",)), 0)["totals"]["norm_median"] == 5.0


def test_the_latest_details_are_those_of_the_last_detailed_step() -> None:
    windows = random_steps(0, 7, 2, ill=0)
    latest = about(written(windows), 1)["latest"]
    assert (latest["step"], latest["detail_step"]) == (6, 4)
    for name in ("largest", "zero_share", "weight_norm", "update_ratio"):
        np.testing.assert_allclose(latest[name], getattr(windows, name)[4, 1], rtol=1e-8)
    np.testing.assert_allclose(latest["norm"], windows.norm_last[6, 1], rtol=1e-8)


def test_replicas_are_told_apart_and_the_worst_stands_for_the_variable() -> None:
    found = about(written(steps(0, [[OK, OK, OK, NAN], [OK, OK, OK, OK]], [[1, 2, 3, 4]]), replicas=2), 1)
    assert [r["replica"] for r in found["replicas"]] == [0, 1]
    assert [r["norm_last"] for r in found["replicas"]] == [2.0, 4.0]
    assert [r["first_bad_step"] for r in found["replicas"]] == [None, 0]
    assert [r["nan"] for r in found["replicas"]] == [0, 1]
    assert found["latest"]["norm"] == 4.0
    assert found["totals"]["nan"] == 1


def test_the_flight_lists_its_steps_one_by_one_and_none_twice() -> None:
    flights = [steps(100, [[OK, OK], [OK, NAN], [OK, OK]], 2.0), steps(102, [[OK, INF], [OK, OK]], 4.0)]
    found = about(written(steps(0, np.full((5, 2), OK)), flights=flights), 1)["flight"]
    assert [f["step"] for f in found] == [100, 101, 102, 103]
    assert [f["state"] for f in found] == ["ok", "nan", "inf", "ok"]
    assert [f["norm"] for f in found] == [2.0, None, None, 4.0]
    assert [f["nan_elements"] for f in found] == [0, 5, 0, 0]
    assert [f["loss"] for f in found] == [1.0, 1.01, 1.0, 1.01]


def test_flights_of_an_earlier_variable_set_find_their_variable() -> None:
    provider = written(steps(0, [[OK, OK]]), flights=[steps(0, [[OK, NAN]])])
    writer = provider.writer("r", start=9_000.0)
    writer.schema(schema(["x", "b"], generation=2_000))
    writer.records(steps(5, [[OK, OK]]), "adam", 2_000)
    writer.flight(steps(5, [[NAN, OK]]), "adam", 2_000, 0)
    assert [(f["step"], f["state"]) for f in about(provider, 1)["flight"]] == [(0, "nan"), (5, "ok")]
    assert [(f["step"], f["state"]) for f in about(provider, 0)["flight"]] == [(0, "not_recorded"), (5, "nan")]


def test_a_run_without_steps_knows_nothing_yet() -> None:
    provider = FakeProvider()
    provider.writer("r").schema(schema(["a"]))
    found = about(provider, 0)
    assert found["latest"]["step"] is None
    assert found["latest"]["norm"] is None
    assert found["totals"]["steps"] == 0
    assert found["totals"]["norm_median"] is None
    assert found["flight"] == []
