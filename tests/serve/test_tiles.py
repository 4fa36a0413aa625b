"""Tiles, against a double loop; and that nothing bad ever vanishes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serve_world import INF, NAN, NONE, OK, ZERO, FakeProvider, random_steps, schema, steps, where

from tb_gradhealth.format.windows import Windows
from tb_gradhealth.serve import tiles
from tb_gradhealth.serve.source import Source
from tb_gradhealth.serve.store import Store
from tb_gradhealth.serve.table import Table
from tb_gradhealth.serve.tiles import METRICS, Tile, columns_for, stored_metric, tile


def table_of(*parts: Windows, variables: int, replicas: int = 1) -> Table:
    provider = FakeProvider()
    writer = provider.writer("r")
    writer.schema(schema([f"v{i}" for i in range(variables)], replicas=replicas))
    for part in parts:
        writer.records(part, "adam", 1_000)
    return Store(Source(provider)).run(where(), "r")[0].tables["adam"]


def draw_tile(table: Table, first: int, last: int, count: int, metric: str = "norm_max", **how: Any) -> Tile:
    return tile(table, columns_for(table, first, last, count), stored_metric(metric), **how)


def naive(windows: Windows, variables: int, first: int, last: int, count: int, metric: str, smallest: bool) -> Any:
    """Columns as dictionaries, one window, one row after the other."""
    inside = [i for i in range(len(windows)) if windows.last_step[i] >= first and windows.first_step[i] <= last]
    cells: dict[Any, Any] = {}
    worst = windows.worst_state()
    for place, i in enumerate(inside):
        begin = max(int(windows.first_step[i]), first) - first
        key = place if len(inside) <= count else begin * count // (last - first + 1)
        steps = cells.setdefault(key, ([], {}, {}))
        steps[0].extend((int(windows.first_step[i]), int(windows.last_step[i])))
        for row in range(windows.row_count):
            value = getattr(windows, metric)[i, row]
            variable = row % variables
            if not np.isnan(value):
                steps[1].setdefault(variable, []).append(value)
            steps[2].setdefault(variable, []).append(worst[i, row])
    pick = min if smallest else max
    return [
        (
            steps[0], steps[-1],
            [pick(values.get(v, [np.nan])) for v in range(variables)],
            [max(states.get(v, [0])) for v in range(variables)],
        )
        for _, (steps, values, states) in sorted(cells.items())
    ]  # fmt: skip


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**16), count=st.integers(1, 60), variables=st.integers(1, 3), replicas=st.sampled_from([1, 2]),
    width=st.sampled_from([1, 4]), first=st.integers(-5, 70), span=st.integers(0, 80), columns=st.integers(1, 70),
    metric=st.sampled_from([m for m in METRICS if m != "change"]), smallest=st.booleans(),
)  # fmt: skip
def test_a_tile_equals_a_double_loop(
    seed, count, variables, replicas, width, first, span, columns, metric, smallest
) -> None:
    windows = random_steps(3, count, variables * replicas, ill=0.3, seed=seed).merged(np.arange(0, count, width))
    table = table_of(windows, variables=variables, replicas=replicas)
    found = draw_tile(table, first, first + span, columns, metric, smallest=smallest)
    expected = naive(windows, variables, first, first + span, columns, metric, smallest)
    assert found.first.tolist() == [e[0] for e in expected]
    assert found.last.tolist() == [e[1] for e in expected]
    np.testing.assert_array_equal(found.values.T, np.array([e[2] for e in expected]).reshape(-1, variables))
    np.testing.assert_array_equal(found.states.T, np.array([e[3] for e in expected]).reshape(-1, variables))
    assert found.values.dtype == np.float32
    assert found.states.dtype == np.uint8


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**16), st.integers(1, 500), st.integers(1, 40))
def test_no_bad_step_vanishes_at_any_zoom(seed, count, columns) -> None:
    random = np.random.default_rng(seed)
    states = np.full((count, 3), OK)
    states[random.integers(count), random.integers(3)] = random.choice([ZERO, NONE, INF, NAN])
    found = draw_tile(table_of(steps(0, states), variables=3), 0, count - 1, columns)
    assert len(found.first) <= columns
    np.testing.assert_array_equal(found.states.max(axis=1), states.max(axis=0))
    at = np.argwhere(states != OK)[0]
    holding = (found.first <= at[0]) & (at[0] <= found.last)
    assert found.states[at[1], holding].tolist() == [states[at[0], at[1]]]


def test_a_bad_cell_is_worse_than_any_number_of_good_ones_and_keeps_the_norms_of_those() -> None:
    states = np.full((1000, 1), OK)
    states[500] = NAN
    found = draw_tile(table_of(steps(0, states, np.arange(1000)[:, None]), variables=1), 0, 999, 2)
    assert found.states.tolist() == [[OK, NAN]]
    assert found.values.tolist() == [[499, 999]]


def test_columns_of_many_segments_are_equal_ranges_of_steps() -> None:
    table = table_of(*[random_steps(512 * i, 512, 2) for i in range(3)], variables=2)
    assert len(table.blocks) == 3
    found = draw_tile(table, 0, 1535, 7)
    assert found.first.tolist() == [-(-1536 * i // 7) for i in range(7)]
    assert found.last.tolist() == [*(found.first[1:] - 1).tolist(), 1535]


def test_ranges_without_a_record_are_left_out() -> None:
    table = table_of(random_steps(0, 20, 1), random_steps(1_000, 20, 1), variables=1)
    found = draw_tile(table, 0, 1_019, 10)
    assert found.first.tolist() == [0, 1_000]
    assert found.last.tolist() == [19, 1_019]


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**16), st.sampled_from([1, 3]), st.lists(st.integers(0, 5), max_size=8, unique=True))
def test_some_variables_are_the_same_rows_of_the_whole(seed, replicas, chosen) -> None:
    windows = random_steps(0, 40, 6 * replicas, ill=0.3, seed=seed)
    table = table_of(windows, variables=6, replicas=replicas)
    for how in ({}, {"smallest": True}, {"replica": replicas - 1}):
        whole = draw_tile(table, 0, 39, 7, **how)
        part = draw_tile(table, 0, 39, 7, variables=chosen, **how)
        np.testing.assert_array_equal(part.values, whole.values[chosen])
        np.testing.assert_array_equal(part.states, whole.states[chosen])
        assert part.first.tolist() == whole.first.tolist()


def test_some_variables_of_a_set_that_changed_are_the_same_rows_of_the_whole() -> None:
    provider = FakeProvider()
    writer = provider.writer("r")
    writer.schema(schema(["a", "b"]))
    writer.records(random_steps(0, 20, 2), "adam", 1_000)
    writer.schema(schema(["b", "c"], generation=2_000))
    writer.records(random_steps(20, 20, 2), "adam", 2_000)
    table = Store(Source(provider)).run(where(), "r")[0].tables["adam"]
    for metric in ("norm_max", "largest"):
        whole = draw_tile(table, 0, 39, 9, metric)
        part = draw_tile(table, 0, 39, 9, metric, variables=[2, 0])
        np.testing.assert_array_equal(part.values, whole.values[[2, 0]])
        np.testing.assert_array_equal(part.states, whole.states[[2, 0]])


def test_few_records_are_a_column_each() -> None:
    found = draw_tile(table_of(random_steps(5, 8, 1), variables=1), 0, 1_000_000, 8)
    assert found.first.tolist() == list(range(5, 13))


def test_one_replica_shows_its_own_rows() -> None:
    states = np.array([[OK, OK, NAN, ZERO]] * 2)
    table = table_of(steps(0, states, [[1, 2, 3, 4]] * 2), variables=2, replicas=2)
    assert draw_tile(table, 0, 1, 9, replica=0).states.tolist() == [[OK, OK], [OK, OK]]
    assert draw_tile(table, 0, 1, 9, replica=1).states.tolist() == [[NAN, NAN], [ZERO, ZERO]]
    assert draw_tile(table, 0, 1, 9).states.tolist() == [[NAN, NAN], [ZERO, ZERO]]
    assert draw_tile(table, 0, 1, 9, replica=1).values[1].tolist() == [0, 0]
    assert draw_tile(table, 0, 1, 9).values.tolist() == [[1, 1], [2, 2]]


def test_a_range_outside_the_run_is_empty() -> None:
    table = table_of(random_steps(0, 5, 2), variables=2)
    for first, last in ((100, 200), (-50, -10)):
        found = draw_tile(table, first, last, 10)
        assert found.values.shape == found.states.shape == (2, 0)


def test_wide_models_get_fewer_columns_rather_than_an_unbounded_answer(monkeypatch) -> None:
    monkeypatch.setattr(tiles, "MAX_CELLS", 40)
    table = table_of(random_steps(0, 30, 10), variables=10)
    assert len(columns_for(table, 0, 29, 4096)) == 4
    monkeypatch.setattr(tiles, "MAX_CELLS", 3)
    assert len(columns_for(table, 0, 29, 4096)) == 1
    assert len(columns_for(table, 0, 29, 4096, drawn=1)) == 3


def test_steps_beyond_what_an_int32_holds_stay_exact() -> None:
    table = table_of(random_steps(2**50, 40, 1), variables=1)
    found = draw_tile(table, 2**50, 2**50 + 39, 4)
    assert found.first.tolist() == [2**50 + 10 * i for i in range(4)]


@pytest.mark.parametrize("count", [1, 2, 100])
def test_a_group_without_variables_has_a_matrix_without_rows(count) -> None:
    found = draw_tile(table_of(random_steps(0, 5, 0), variables=0), 0, 4, count)
    assert found.values.shape == (0, min(count, 5))
