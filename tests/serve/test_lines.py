"""Lines and bands, recomputed with NumPy in float64."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serve_world import INF, NAN, NONE, OK, FakeProvider, random_steps, schema, steps, where
from test_tiles import table_of

from tb_gradhealth.serve.lines import lines, percentiles
from tb_gradhealth.serve.source import Source
from tb_gradhealth.serve.store import Store
from tb_gradhealth.serve.tiles import columns_for, stored_metric


def draw_lines(table, variables, columns=100, metric="norm_max", **how):
    first, last = table.first_step or 0, table.last_step or 0
    return lines(table, columns_for(table, first, last, columns), metric, stored_metric(metric), variables, **how)


def numbers(values) -> np.ndarray:
    return np.array([np.nan if v is None else v for v in values], float)


@settings(deadline=None)
@given(st.integers(0, 2**16), st.integers(1, 40), st.integers(1, 12), st.sampled_from([1, 2]))
def test_each_column_holds_the_least_the_mean_and_the_largest_of_its_steps(seed, count, columns, replicas) -> None:
    windows = random_steps(0, count, 3 * replicas, ill=0.2, seed=seed)
    table = table_of(windows, variables=3, replicas=replicas)
    found = draw_lines(table, [2, 0], columns)
    assert [line["index"] for line in found["lines"]] == [2, 0]
    for line in found["lines"]:
        norms = windows.norm_last[:, line["index"] :: 3].astype(float)
        for i, (a, b) in enumerate(zip(found["first"], found["last"], strict=True)):
            part = norms[a : b + 1]
            by_replica = [c[~np.isnan(c)].mean() for c in part.T if not np.isnan(c).all()]
            low, mean, high = (line[name][i] for name in ("min", "mean", "max"))
            if not by_replica:
                assert (low, mean, high) == (None, None, None)
                continue
            np.testing.assert_allclose([low, high], [np.nanmin(part), np.nanmax(part)], rtol=1e-8)
            np.testing.assert_allclose(mean, np.mean(by_replica), rtol=1e-6)


def test_other_metrics_have_one_line() -> None:
    table = table_of(random_steps(0, 8, 2), variables=2)
    line = draw_lines(table, [1], metric="largest")["lines"][0]
    assert line["min"] == line["mean"] == line["max"]
    assert [v is None for v in line["max"]] == [False, True, True, True] * 2


def test_the_loss_of_a_column_is_its_last_and_loss_max_its_largest() -> None:
    windows = steps(0, np.full((4, 1), OK))
    windows.loss[:] = windows.loss_max[:] = [4.0, 1.0, 9.0, 2.0]
    windows.learning_rate[:] = [0.5, 0.5, 0.25, np.nan]
    found = draw_lines(table_of(windows, variables=1), [0], 2)
    assert found["loss"] == [1.0, 2.0]
    assert found["loss_max"] == [4.0, 9.0]
    assert found["learning_rate"] == [0.5, 0.25]
    assert found["loss_scale"] == [None, None]
    assert found["global_norm"] == [3.0, 3.0]


def test_an_infinite_loss_is_null() -> None:
    windows = steps(0, np.full((2, 1), OK))
    windows.loss[:] = [np.inf, np.nan]
    assert draw_lines(table_of(windows, variables=1), [0])["loss"] == [None, None]


def test_columns_that_span_segments_are_merged_once() -> None:
    windows = random_steps(0, 1_300, 2, ill=0)
    found = draw_lines(table_of(windows, variables=2), [0], 5)
    mean = [
        windows.norm_last[a : b + 1, 0].astype(float).mean() for a, b in zip(found["first"], found["last"], strict=True)
    ]
    assert len(found["first"]) == 5
    np.testing.assert_allclose(found["lines"][0]["mean"], mean, rtol=1e-6)


@given(st.integers(0, 2**16), st.integers(0, 9), st.integers(0, 5), st.floats(0, 1))
def test_percentiles_are_numpys_over_the_finite_values(seed, variables, columns, gaps) -> None:
    random = np.random.default_rng(seed)
    values = random.normal(size=(variables, columns)).astype(np.float32)
    values[random.random(values.shape) < gaps] = random.choice([np.nan, np.inf, -np.inf])
    found = percentiles(values, (0, 5, 50, 95, 100))
    for column in range(columns):
        finite = values[:, column][np.isfinite(values[:, column])].astype(np.float64)
        expected = np.percentile(finite, (0, 5, 50, 95, 100)) if len(finite) else [np.nan] * 5
        np.testing.assert_allclose([f[column] for f in found], expected, rtol=1e-6)


def test_the_band_is_over_all_variables_of_the_group() -> None:
    table = table_of(steps(0, np.full((1, 101), OK), np.arange(101.0)[None]), variables=101)
    assert draw_lines(table, [0])["band"] == {"p5": [5.0], "p50": [50.0], "p95": [95.0]}


def test_a_run_without_steps_has_empty_lines() -> None:
    provider = FakeProvider()
    provider.writer("r").schema(schema(["a"]))
    found = draw_lines(Store(Source(provider)).run(where(), "r")[0].tables["adam"], [0])
    assert found["first"] == found["loss"] == found["band"]["p50"] == []
    assert found["lines"] == [{"index": 0, "min": [], "mean": [], "max": [], "state": []}]


@pytest.mark.parametrize(("replica", "state"), [(None, NAN), (0, NONE), (1, NAN)])
def test_states_fold_over_replicas_and_one_can_be_asked_for(replica, state) -> None:
    table = table_of(steps(0, [[NONE, NAN]]), variables=1, replicas=2)
    assert draw_lines(table, [0], replica=replica)["lines"][0]["state"] == [state]


def test_a_variable_that_was_never_finite_has_a_state_and_no_norm() -> None:
    line = draw_lines(table_of(steps(0, [[INF], [INF]]), variables=1), [0])["lines"][0]
    assert line == {"index": 0, "min": [None] * 2, "mean": [None] * 2, "max": [None] * 2, "state": [INF, INF]}
