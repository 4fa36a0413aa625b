"""Merging windows, against a double loop over steps and rows."""

import math

import numpy as np
from format_world import assert_same, cuts, histories, single_steps
from hypothesis import given
from hypothesis import strategies as st

from tb_gradhealth.format.columns import BY_NAME, ROWS, SCALARS, Merge
from tb_gradhealth.format.states import State
from tb_gradhealth.format.windows import Windows


def naive(windows: Windows, starts: np.ndarray) -> Windows:
    """The merged windows, value by value, from the meaning of the columns."""
    ends = [*starts[1:].tolist(), len(windows)]
    merged = Windows.blank(len(starts), windows.row_count)
    for i, (a, b) in enumerate(zip(starts, ends, strict=True)):
        part = range(a, b)
        detailed = [t for t in part if windows.detail_step[t] >= 0]
        for c in SCALARS:
            values = [getattr(windows, c.name)[t].item() for t in part]
            getattr(merged, c.name)[i] = scalar(c, values, windows, detailed)
        for c in ROWS:
            for r in range(windows.row_count):
                values = [getattr(windows, c.name)[t, r].item() for t in part]
                getattr(merged, c.name)[i, r] = cell(c, values, windows, part, r, detailed)
    return merged


def scalar(column, values, windows, detailed):
    present = [v for v in values if not (isinstance(v, float) and math.isnan(v))]
    match column.merge:
        case Merge.FIRST:
            return values[0]
        case Merge.LAST:
            return values[-1]
        case Merge.LAST_VALID:
            return present[-1] if present else math.nan
        case Merge.SUM if column.memory == np.float64:
            return np.add.reduce(values)
        case Merge.SUM:
            return sum(values)
        case Merge.MAX:
            return max(present, default=math.nan)
        case Merge.DETAIL:
            return windows.detail_step[detailed[-1]] if detailed else -1
    raise AssertionError(column)


def cell(column, values, windows, part, row, detailed):
    present = [v for v in values if not (isinstance(v, float) and math.isnan(v))]
    match column.merge:
        case Merge.LAST:
            return values[-1]
        case Merge.SUM:
            return sum(values)
        case Merge.MIN:
            return min(present, default=math.nan)
        case Merge.MAX:
            return max(present, default=math.nan)
        case Merge.MIN_STEP:
            return min((v for v in values if v >= 0), default=-1)
        case Merge.MEAN:
            total = count = 0.0
            for t, v in zip(part, values, strict=True):
                ill = windows.none_steps[t, row] + windows.nan_steps[t, row] + windows.inf_steps[t, row]
                finite = int(windows.steps[t] - ill) if not math.isnan(windows.norm_max[t, row]) else 0
                if finite:
                    total, count = total + v * finite, count + finite
            return np.float32(total / count) if count else math.nan
        case Merge.AT_MAX:
            norms = [windows.norm_max[t, row] for t in part]
            if all(math.isnan(n) for n in norms):
                return values[0]
            return min(v for v, n in zip(values, norms, strict=True) if n == np.nanmax(norms))
        case Merge.DETAIL:
            return getattr(windows, column.name)[detailed[-1], row] if detailed else math.nan
    raise AssertionError(column)


def close(actual: Windows, expected: Windows) -> None:
    """As `assert_same`, but for sums whose order of addition is not promised."""
    assert_same(actual, expected, but=("norm_mean", "record_seconds"))
    np.testing.assert_allclose(actual.norm_mean, expected.norm_mean, rtol=1e-6)
    np.testing.assert_allclose(actual.record_seconds, expected.record_seconds, rtol=1e-12)


@given(st.data())
def test_merging_equals_a_double_loop(data) -> None:
    history = data.draw(histories())
    starts = cuts(data.draw, len(history))
    close(history.merged(starts), naive(history, starts))


@given(st.data())
def test_merging_in_two_stages_equals_merging_at_once(data) -> None:
    history = data.draw(histories(gaps=False))
    first = cuts(data.draw, len(history))
    second = cuts(data.draw, len(first))
    close(history.merged(first).merged(second), history.merged(first[second]))


@given(st.data())
def test_no_bad_step_vanishes_and_its_first_step_stays_exact(data) -> None:
    history = data.draw(histories())
    merged = history.merged(cuts(data.draw, len(history)))
    for name in ("none_steps", "zero_steps", "nan_steps", "inf_steps", "handled_steps"):
        np.testing.assert_array_equal(getattr(merged, name).sum(0), getattr(history, name).sum(0))
    if history.row_count:
        worst = merged.worst_state().max(0)
        np.testing.assert_array_equal(worst, history.state_last.max(0))
    for row in range(history.row_count):
        bad = np.flatnonzero(history.state_last[:, row] >= State.INF)
        steps = merged.first_bad_step[:, row]
        if len(bad):
            assert steps[steps >= 0].min() == history.first_step[bad[0]]
        else:
            assert (steps == -1).all()


@given(histories())
def test_the_worst_state_of_a_single_step_is_its_state(history) -> None:
    np.testing.assert_array_equal(history.worst_state(), history.state_last)


def test_worst_state_follows_the_order_of_severity() -> None:
    order = (State.NOT_RECORDED, State.FINITE, State.ZERO, State.NONE, State.INF, State.NAN)
    for i, milder in enumerate(order):
        for worse in order[i:]:
            states = np.array([[milder], [worse]], np.uint8)
            for pair in (states, states[::-1]):
                merged = single_steps(7, pair, np.ones(pair.shape)).merged(np.array([0]))
                assert merged.worst_state()[0, 0] == worse, (milder, worse)


def test_finite_steps_counts_exact_zeros_and_not_what_was_not_recorded() -> None:
    states = np.array([[State.FINITE, State.NOT_RECORDED], [State.ZERO, State.NOT_RECORDED], [State.NAN, State.NAN]])
    merged = single_steps(0, states.astype(np.uint8), np.ones((3, 2))).merged(np.array([0]))
    assert merged.finite_steps().tolist() == [[2, 0]]


def test_merging_into_as_many_windows_changes_nothing() -> None:
    history = single_steps(3, np.ones((4, 2), np.uint8), np.ones((4, 2)))
    assert_same(history.merged(np.arange(4)), history)


def test_blank_windows_hold_every_column_at_its_absent_value_and_dtype() -> None:
    blank = Windows.blank(2, 3)
    assert len(blank) == 2
    assert blank.row_count == 3
    for name, column in BY_NAME.items():
        values = getattr(blank, name)
        assert values.dtype == column.memory
        assert values.shape == ((2, 3) if column in ROWS else (2,))
        np.testing.assert_array_equal(values, np.full(values.shape, column.absent))
    assert (blank.worst_state() == State.NOT_RECORDED).all()


@given(histories())
def test_selecting_and_concatenating_gives_the_same_windows(history) -> None:
    middle = len(history) // 2
    assert_same(Windows.concatenate([history.select(slice(0, middle)), history.select(slice(middle, None))]), history)
    rows = np.arange(history.row_count)[::-1]
    assert_same(history.select_rows(rows).select_rows(rows), history)
