"""Putting a run together: resumption, going back, changed variables, damage, newer formats."""

import itertools
import random

import numpy as np
import pytest
from format_world import STATES, assert_same, schema, single_steps
from hypothesis import given
from hypothesis import strategies as st

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.encoding import encode
from tb_gradhealth.format.log import Stored, ascending, assemble, cut_back, spread, union_schema
from tb_gradhealth.format.states import State
from tb_gradhealth.format.tags import SeriesTag
from tb_gradhealth.format.windows import Windows


def healthy(first: int, steps: int, rows: int = 1, norm: float = 1.0) -> Windows:
    return single_steps(first, np.ones((steps, rows), np.uint8), np.full((steps, rows), norm))


def elements(message: pb.Schema, *segments: Windows, flights: tuple[Windows, ...] = ()) -> list[Stored]:
    """What a writer stores for one generation."""
    group, generation = message.group, message.generation
    stored = [Stored(str(SeriesTag("schema", group, generation)), 0, 1.0, message.SerializeToString())]
    for kind, parts in (("records", segments), ("flight", flights)):
        for index, part in enumerate(parts):
            tag = str(SeriesTag(kind, group, generation, index))
            for i in range(len(part)):
                payload = encode(part, i).SerializeToString()
                stored.append(Stored(tag, int(part.last_step[i]), float(part.wall_time[i]), payload))
    return stored


def test_segments_become_one_history_in_their_order() -> None:
    whole = healthy(0, 10, 2)
    parts = [whole.select(slice(0, 4)), whole.select(slice(4, 9)), whole.select(slice(9, 10))]
    run = assemble(elements(schema(["a", "b"]), *parts))
    assert_same(run.groups["adam"].windows, whole)
    assert run.problems == ()
    assert run.newer_format is None


@given(st.randoms(use_true_random=False))
def test_the_order_in_which_tags_arrive_does_not_matter(shuffle: random.Random) -> None:
    stored = elements(schema(["a"]), healthy(0, 3), healthy(3, 2), flights=(healthy(1, 3), healthy(2, 2)))
    stored += elements(schema(["a", "b"], generation=2_000), healthy(5, 2, 2))
    by_tag: dict[str, list[Stored]] = {}
    for element in stored:
        by_tag.setdefault(element.tag, []).append(element)
    mixed: list[Stored] = []
    queues = list(by_tag.values())
    while queues:  # an interleaving of the tags that keeps the order within each
        queue = shuffle.choice(queues)
        mixed.append(queue.pop(0))
        queues = [q for q in queues if q]
    group = assemble(mixed).groups["adam"]
    assert group.windows.first_step.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert group.flights.first_step.tolist() == [1, 2, 3]
    assert [v.name for v in group.schema.variables] == ["a", "b"]


def test_a_resumed_training_replaces_the_steps_that_it_repeats() -> None:
    before, after = healthy(0, 10, norm=1), healthy(6, 10, norm=2)
    stored = elements(schema(["a"]), before) + elements(schema(["a"], generation=2_000), after)
    windows = assemble(stored).groups["adam"].windows
    assert windows.first_step.tolist() == list(range(16))
    assert windows.norm_last[:, 0].tolist() == [1] * 6 + [2] * 10


def test_a_window_that_reaches_into_repeated_steps_keeps_its_evidence_and_ends_before_them() -> None:
    states = np.full((10, 1), State.FINITE, np.uint8)
    states[2] = State.NAN
    wide = single_steps(0, states, np.ones((10, 1))).merged(np.array([0]))
    stored = elements(schema(["a"]), wide) + elements(schema(["a"], generation=2_000), healthy(5, 2))
    windows = assemble(stored).groups["adam"].windows
    assert windows.first_step.tolist() == [0, 5, 6]
    assert windows.last_step.tolist() == [4, 5, 6]
    assert windows.first_bad_step[0, 0] == 2


def test_steps_that_go_back_within_a_generation_are_replaced_too() -> None:
    run = assemble(elements(schema(["a"]), healthy(0, 6, norm=1), healthy(2, 3, norm=2), healthy(3, 1, norm=3)))
    windows = run.groups["adam"].windows
    assert windows.first_step.tolist() == [0, 1, 2, 3]
    assert windows.norm_last[:, 0].tolist() == [1, 1, 2, 3]


def test_a_resumption_that_starts_over_replaces_everything() -> None:
    stored = elements(schema(["a"]), healthy(5, 5)) + elements(schema(["a"], generation=2_000), healthy(0, 2, norm=2))
    assert assemble(stored).groups["adam"].windows.norm_last[:, 0].tolist() == [2, 2]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 8)), min_size=1, max_size=5))
def test_cut_back_equals_writing_step_after_step_into_a_table(parts) -> None:
    table: dict[int, int] = {}
    for number, (first, steps) in enumerate(parts):
        if steps:
            table = {step: n for step, n in table.items() if step < first}
        table |= {first + i: number for i in range(steps)}
    kept = cut_back([healthy(first, steps, norm=number + 1) for number, (first, steps) in enumerate(parts)])
    windows = Windows.concatenate(kept)
    assert dict(zip(windows.first_step.tolist(), (windows.norm_last[:, 0] - 1).tolist(), strict=True)) == table
    assert windows.first_step.tolist() == sorted(table)


def test_cut_back_leaves_parts_alone_that_repeat_nothing() -> None:
    parts = [healthy(0, 3), healthy(3, 2)]
    for part, whole in zip(cut_back(parts), parts, strict=True):
        assert_same(part, whole)


@given(st.lists(st.integers(0, 5), min_size=0, max_size=12))
def test_ascending_parts_rise_and_together_are_the_whole(steps) -> None:
    windows = Windows.blank(len(steps), 0)
    windows.first_step[:] = windows.last_step[:] = steps
    parts = ascending(windows)
    assert [s for part in parts for s in part.first_step.tolist()] == steps
    for part in parts:
        assert (np.diff(part.first_step) > 0).all()
    for a, b in itertools.pairwise(parts):
        assert b.first_step[0] <= a.last_step[-1]


def test_variables_that_come_and_go_share_one_table() -> None:
    stored = elements(schema(["a", "b"]), healthy(0, 2, 2, norm=1))
    stored += elements(schema(["c", "b"], generation=2_000), healthy(2, 2, 2, norm=2))
    group = assemble(stored).groups["adam"]
    assert [v.name for v in group.schema.variables] == ["c", "b", "a"]
    assert group.schema.generation == 2_000
    assert [s.generation for s in group.generations] == [1_000, 2_000]
    norms = group.windows.norm_last
    nan = np.nan
    np.testing.assert_array_equal(norms, [[nan, 1, 1], [nan, 1, 1], [2, 2, nan], [2, 2, nan]])
    assert group.windows.state_last[0].tolist() == [State.NOT_RECORDED, State.FINITE, State.FINITE]


def test_variables_of_one_name_stay_two_variables_in_their_order() -> None:
    union, places = union_schema([schema(["k", "k"]), schema(["x", "k", "k", "k"], generation=2_000)])
    assert [v.name for v in union.variables] == ["x", "k", "k", "k"]
    assert [p.tolist() for p in places] == [[1, 2], [0, 1, 2, 3]]


def test_more_replicas_later_keep_the_rows_of_the_first() -> None:
    union, places = union_schema([schema(["a", "b"]), schema(["b", "a"], generation=2_000, replicas=2)])
    assert union.replicas == 2
    assert [v.name for v in union.variables] == ["b", "a"]
    assert [p.tolist() for p in places] == [[1, 0], [0, 1, 2, 3]]


@given(st.data())
def test_spreading_puts_each_row_in_its_place_and_records_nothing_elsewhere(data) -> None:
    rows = data.draw(st.integers(0, 3))
    total = data.draw(st.integers(rows, 5))
    place = np.array(data.draw(st.permutations(range(total)))[:rows], np.int64)
    states = np.array(data.draw(st.lists(st.sampled_from(STATES), min_size=2 * rows, max_size=2 * rows)), np.uint8)
    narrow = single_steps(0, states.reshape(2, rows), np.ones((2, rows)))
    wide = spread(narrow, place, total)
    assert_same(wide.select_rows(place), narrow)
    rest = np.setdiff1d(np.arange(total), place)
    assert (wide.select_rows(rest).worst_state() == State.NOT_RECORDED).all()


def test_groups_are_kept_apart_and_come_in_order_of_appearance() -> None:
    stored = elements(schema(["a"], group="zebra"), healthy(0, 1))
    stored += elements(schema(["a"], group="adam/1", generation=2_000), healthy(0, 2))
    assert {name: len(g.windows) for name, g in assemble(stored).groups.items()} == {"zebra": 1, "adam/1": 2}
    assert list(assemble(stored).groups) == ["zebra", "adam/1"]


def test_groups_that_began_in_the_same_millisecond_come_by_name() -> None:
    stored = elements(schema(["a"], group="b")) + elements(schema(["a"], group="a"))
    assert list(assemble(stored).groups) == list(assemble(stored[::-1]).groups) == ["a", "b"]


def test_flights_hold_no_step_twice_and_the_later_one_wins() -> None:
    stored = elements(schema(["a"]), healthy(0, 9), flights=(healthy(2, 4, norm=1), healthy(4, 4, norm=2)))
    flights = assemble(stored).groups["adam"].flights
    assert flights.first_step.tolist() == [2, 3, 4, 5, 6, 7]
    assert flights.norm_last[:, 0].tolist() == [1, 1, 2, 2, 2, 2]


def test_a_begun_training_has_a_schema_and_no_window() -> None:
    group = assemble(elements(schema(["a", "b"]))).groups["adam"]
    assert len(group.windows) == 0
    assert group.windows.row_count == 2


def test_no_elements_are_an_empty_run() -> None:
    run = assemble([])
    assert (run.groups, run.incidents, run.causes, run.problems, run.newer_format) == ({}, (), (), (), None)


def test_records_without_their_schema_are_not_shown() -> None:
    stored = [e for e in elements(schema(["a"]), healthy(0, 3)) if not e.tag.startswith("schema")]
    assert assemble(stored).groups == {}


def test_of_incidents_and_causes_the_last_one_wins() -> None:
    def stored(tag: str, step: int, message) -> Stored:
        return Stored(tag, step, float(step), message.SerializeToString())

    first = pb.Incidents(incidents=[pb.Incident(kind="nan")])
    last = pb.Incidents(incidents=[pb.Incident(kind="nan"), pb.Incident(kind="inf")])
    causes = pb.Causes(causes=[pb.Cause(op="Sqrt")])
    run = assemble([stored("incidents", 1, first), stored("incidents", 2, last), stored("causes", 2, causes)])
    assert [i.kind for i in run.incidents] == ["nan", "inf"]
    assert [c.op for c in run.causes] == ["Sqrt"]


def test_a_damaged_last_list_falls_back_to_the_one_before_and_says_so() -> None:
    good = pb.Incidents(incidents=[pb.Incident(kind="nan")]).SerializeToString()
    run = assemble([Stored("incidents", 1, 1.0, good), Stored("incidents", 2, 2.0, b"\xff\xff\xff")])
    assert [i.kind for i in run.incidents] == ["nan"]
    assert len(run.problems) == 1
    assert run.problems[0].startswith("incidents, step 2: ")


@pytest.mark.parametrize("payload", [b"\xff\xff\xff", encode(healthy(1, 1, rows=3)).SerializeToString()])
def test_a_damaged_record_costs_that_record_and_is_told(payload) -> None:
    stored = elements(schema(["a"]), healthy(0, 3))
    stored[2] = Stored(stored[2].tag, 1, 1.0, payload)
    run = assemble(stored)
    assert run.groups["adam"].windows.first_step.tolist() == [0, 2]
    assert len(run.problems) == 1
    assert run.problems[0].startswith("records/adam/1000/000000, step 1: ")


def test_a_newer_format_is_named_and_nothing_of_the_run_is_shown() -> None:
    newer = schema(["a"])
    newer.format_version = 7
    run = assemble(elements(newer, healthy(0, 3)))
    assert run.newer_format == 7
    assert run.groups == {}
    assert run.problems == [
        "This run was written in format 7; this version of tb_gradhealth reads up to format 1. "
        "Upgrade tb_gradhealth where you read it: pip install -U tb_gradhealth"
    ]
