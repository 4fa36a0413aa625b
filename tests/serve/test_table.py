"""The served history is the one that the format puts together."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from serve_world import NAN, OK, FakeProvider, random_steps, schema, steps, where

from tb_gradhealth.format.columns import ROWS, SCALARS
from tb_gradhealth.format.log import Stored, assemble
from tb_gradhealth.format.windows import Windows
from tb_gradhealth.serve.assessment import log_of
from tb_gradhealth.serve.source import Source
from tb_gradhealth.serve.store import Store
from tb_gradhealth.serve.table import Table, decoded

RUN = "run/gradhealth"


def assembled(provider: FakeProvider) -> Any:
    """The run as the file reader sees it."""
    return assemble(
        Stored(tag, d.step, d.wall_time, d.numpy.item()) for tag, data in provider.stored[RUN].items() for d in data
    )


def served(provider: FakeProvider) -> Any:
    return Store(Source(provider)).run(where(), RUN)[0]


def whole(table: Table) -> Windows:
    return Windows.concatenate([Windows.blank(0, table.rows), *(b.windows() for b in table.blocks)])


def same(actual: Windows, expected: Windows) -> None:
    for column in SCALARS + ROWS:
        np.testing.assert_array_equal(getattr(actual, column.name), getattr(expected, column.name), column.name)


@st.composite
def logs(draw) -> FakeProvider:
    """A run of several generations with other variables, that go on, go back and overlap."""
    provider = FakeProvider()
    for number in range(draw(st.integers(1, 3))):
        names = draw(st.lists(st.sampled_from("abcd"), max_size=4))
        replicas = draw(st.sampled_from([1, 1, 2]))
        generation = 1_000 + number
        writer = provider.writer(RUN, start=1_000.0 * (number + 1))
        writer.schema(schema(names, generation=generation, replicas=replicas))
        first = draw(st.integers(0, 30))
        for seed in range(draw(st.integers(0, 3))):
            count = draw(st.integers(1, 10))
            windows = random_steps(first, count, len(names) * replicas, ill=0.2, seed=seed)
            writer.records(windows.merged(np.arange(0, count, draw(st.sampled_from([1, 3])))), "adam", generation)
            first += count - draw(st.sampled_from([0, 0, 2]))
    return provider


@settings(deadline=None)
@given(logs())
def test_the_table_holds_the_windows_that_the_format_assembles(provider) -> None:
    table, group = served(provider).tables["adam"], assembled(provider).groups["adam"]
    assert table.schema == group.schema
    assert list(table.generations) == list(group.generations)
    same(whole(table), group.windows)
    same(Windows.concatenate([Windows.blank(0, 0), table.scalars()]), group.windows.select_rows(slice(0, 0)))


@settings(deadline=None)
@given(logs(), st.integers(0, 50), st.integers(0, 20))
def test_a_step_range_gives_the_windows_that_have_a_step_in_it(provider, first, width) -> None:
    table = served(provider).tables["adam"]
    everything = whole(table)
    inside = (everything.last_step >= first) & (everything.first_step <= first + width)
    blocks = table.between(first, first + width)
    found = Windows.concatenate([Windows.blank(0, table.rows), *(b.windows() for b in blocks)])
    same(found, everything.select(inside))
    for block in blocks:
        for name in ("norm_max", "first_bad_step", "nan_steps", "state_last", "largest"):
            expected = everything.select(np.isin(everything.first_step, block.scalars.first_step))
            np.testing.assert_array_equal(block.column(name), getattr(expected, name))
        np.testing.assert_array_equal(block.worst(), expected.worst_state())


@settings(deadline=None)
@given(logs())
def test_the_rules_see_the_same_run_as_from_the_files(provider) -> None:
    log, expected = log_of(served(provider)), assembled(provider)
    assert list(log.groups) == list(expected.groups)
    for name, group in expected.groups.items():
        table = served(provider).tables[name]
        same(decoded(table.blocks, table.rows), group.windows)
        for column in SCALARS + ROWS:
            assert getattr(decoded(table.blocks, table.rows), column.name).dtype == column.memory
        streamed = log.groups[name].windows
        assert len(streamed) == len(group.windows)
        assert streamed.row_count == group.windows.row_count
        same(streamed.select(slice(0, 7)), group.windows.select(slice(0, 7)))
        np.testing.assert_array_equal(streamed.first_step, group.windows.first_step)
        np.testing.assert_array_equal(streamed.norm_max, group.windows.norm_max)


def test_groups_come_in_order_of_appearance_and_keep_apart() -> None:
    provider = FakeProvider()
    for name, generation in (("b", 1), ("a/ü", 1), ("0", 2)):
        writer = provider.writer(RUN)
        writer.schema(schema(["k"], group=name, generation=generation))
        writer.records(steps(0, [[OK], [NAN if name == "b" else OK]]), name, generation)
    tables = served(provider).tables
    assert list(tables) == ["a/ü", "b", "0"]
    assert [whole(t).worst_state()[1, 0] for t in tables.values()] == [OK, NAN, OK]


def test_a_begun_run_has_a_table_without_windows() -> None:
    provider = FakeProvider()
    provider.writer(RUN).schema(schema(["k"]))
    table = served(provider).tables["adam"]
    assert (table.first_step, table.last_step, table.between(0, 10)) == (None, None, [])
    assert len(table.scalars()) == 0
