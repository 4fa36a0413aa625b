"""Which variables differ inside a step range."""

import numpy as np
import pytest
from serve_world import NAN, NONE, OK, ZERO, random_steps, steps
from test_tiles import table_of

from tb_gradhealth.serve import rank as module
from tb_gradhealth.serve.rank import WORSE_STATE, rank


def by_index(found: dict) -> dict:
    return {v["index"]: v for v in found["variables"]}


def test_the_score_is_the_distance_of_the_medians_in_decades() -> None:
    norms = np.ones((20, 3))
    norms[5:8, 1] = 100
    norms[5:8, 2] = 0.1
    found = rank(table_of(steps(0, np.full((20, 3), OK), norms), variables=3), 5, 7)
    assert [v["index"] for v in found["variables"]] == [1, 2, 0]
    assert [v["score"] for v in found["variables"]] == pytest.approx([2, 1, 0], abs=1e-6)
    assert [v["inside"] for v in found["variables"]] == pytest.approx([100, 0.1, 1])
    assert [v["outside"] for v in found["variables"]] == [1, 1, 1]
    assert by_index(found)[1]["why"] == "median norm 100, elsewhere 1: 100 times larger"
    assert by_index(found)[2]["why"] == "median norm 0.1, elsewhere 1: 10 times smaller"
    assert by_index(found)[0]["why"] == "as elsewhere"


def test_a_worse_state_comes_first_whatever_the_norms() -> None:
    states = np.full((50, 2), OK)
    states[[10, 12, 20], 0] = NAN
    norms = np.ones((50, 2))
    norms[10:31, 1] = 1_000
    found = rank(table_of(steps(0, states, norms), variables=2), 10, 30)
    assert [(v["index"], v["state"]) for v in found["variables"]] == [(0, "nan"), (1, "ok")]
    assert found["variables"][0]["score"] == WORSE_STATE
    assert found["variables"][0]["why"] == "NaN at 3 of 21 steps; elsewhere never"


@pytest.mark.parametrize(("state", "word"), [(NAN, "NaN"), (NONE, "None"), (ZERO, "exactly 0")])
def test_a_state_that_is_more_frequent_inside_counts_as_worse(state, word) -> None:
    states = np.full((40, 2), OK)
    states[10:, 0] = state
    found = by_index(rank(table_of(steps(0, states), variables=2), 10, 19))
    assert found[0]["why"] == f"{word} at 10 of 10 steps; elsewhere at 20 of 30"
    assert found[0]["score"] >= WORSE_STATE
    assert found[1]["score"] == 0


def test_the_whole_run_has_nothing_to_be_compared_with() -> None:
    states = np.full((5, 2), OK)
    states[3, 1] = NAN
    found = by_index(rank(table_of(steps(0, states), variables=2), 0, 4))
    assert found[1]["why"] == "NaN at 1 of 5 steps"
    assert found[0]["why"] == "no norm elsewhere to compare with"
    assert found[0]["outside"] is None


def test_what_is_as_ill_elsewhere_says_so() -> None:
    states = np.full((20, 2), OK)
    states[:, 1] = NAN
    found = by_index(rank(table_of(steps(0, states), variables=2), 5, 9))
    assert found[1]["why"] == "NaN at 5 of 5 steps, as elsewhere"


def test_a_range_without_records_is_told() -> None:
    found = by_index(rank(table_of(steps(0, np.full((5, 1), OK)), variables=1), 100, 200))
    assert found[0]["why"] == "no norm inside"
    assert found[0]["inside"] is None


@pytest.mark.parametrize("sample", [7, 1024])
def test_medians_are_numpys_over_evenly_spread_records(monkeypatch, sample) -> None:
    monkeypatch.setattr(module, "SAMPLE", sample)
    windows = random_steps(0, 900, 4, ill=0.2)
    found = by_index(rank(table_of(windows, variables=4), 200, 399))
    inside = np.arange(200, 400)[np.unique(np.linspace(0, 199, min(200, sample)).astype(int))]
    for index, entry in found.items():
        np.testing.assert_allclose(entry["inside"], np.nanmedian(windows.norm_mean[inside, index]), rtol=1e-6)


def test_replicas_fold() -> None:
    states = np.full((10, 4), OK)
    states[3, 3] = NAN
    found = rank(table_of(steps(0, states), variables=2, replicas=2), 3, 3)
    assert [(v["index"], v["state"]) for v in found["variables"]] == [(1, "nan"), (0, "ok")]


def test_a_wide_window_that_reaches_into_the_range_is_inside() -> None:
    wide = steps(0, np.full((8, 1), OK)).merged(np.array([0, 4]))
    found = rank(table_of(wide, variables=1), 3, 3)["variables"][0]
    assert (found["inside"], found["outside"]) == (1.0, 1.0)
    assert rank(table_of(wide, variables=1), 3, 4)["variables"][0]["outside"] is None
