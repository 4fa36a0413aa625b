"""Keeping runs up to date, cheaply and in bounded memory."""

import threading

import numpy as np
import pytest
from serve_world import NAN, OK, FakeProvider, random_steps, schema, steps, where
from tensorboard import errors

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.serve.source import Source, UnavailableError
from tb_gradhealth.serve.store import Store
from tb_gradhealth.serve.tiles import columns_for, stored_metric, tile


class World:
    def __init__(self, limit: int = 1 << 30, kept: int | None = None, rows: int = 4) -> None:
        self.provider = FakeProvider()
        self.writer = self.provider.writer("r")
        self.writer.schema(schema([f"v{i}" for i in range(rows)]))
        self.store = Store(Source(self.provider), kept, limit)
        self.rows = rows

    def grow(self, first: int, count: int) -> None:
        self.writer.records(random_steps(first, count, self.rows, seed=first), "adam", 1_000)

    def look(self):
        """The run, and which tags had to be read for it."""
        self.provider.reads.clear()
        run, _ = self.store.run(where(), "r")
        return run, [tag for _, tag in self.provider.reads]


def draw(run):
    table = run.tables["adam"]
    return tile(table, columns_for(table, 0, table.last_step, 100), stored_metric("norm_max"))


def test_a_growing_run_is_refreshed_by_reading_its_newest_segment_only() -> None:
    world = World()
    world.grow(0, 5_000)
    assert len(world.look()[1]) == 11
    for first in (5_000, 5_010):
        world.grow(first, 10)
        run, read = world.look()
        assert read == ["records/adam/1000/000009"]
        assert run.tables["adam"].last_step == first + 9
    world.grow(5_020, 200)
    assert world.look()[1] == ["records/adam/1000/000009", "records/adam/1000/000010"]


def test_a_run_that_did_not_change_is_not_read_again() -> None:
    world = World()
    world.grow(0, 700)
    first, _ = world.look()
    again, read = world.look()
    assert read == []
    assert again.revision == first.revision
    draw(again)
    assert world.provider.reads == []


def test_the_revision_changes_with_every_element() -> None:
    world = World()
    seen = {world.look()[0].revision}
    world.grow(0, 1)
    seen.add(world.look()[0].revision)
    world.writer.incidents(pb.Incidents(), 0)
    seen.add(world.look()[0].revision)
    world.writer.incidents(pb.Incidents(), 0)
    seen.add(world.look()[0].revision)
    assert len(seen) == 4


def test_memory_stays_below_the_limit_and_the_answers_stay_the_same() -> None:
    free = World(rows=50)
    free.grow(0, 3_000)
    expected = draw(free.look()[0])
    limit = free.store.cache.nbytes // 3
    tight = World(limit, rows=50)
    tight.grow(0, 3_000)
    for _ in range(2):
        found = draw(tight.look()[0])
        np.testing.assert_array_equal(found.values, expected.values)
        np.testing.assert_array_equal(found.states, expected.states)
        assert 0 < tight.store.cache.nbytes <= limit


def test_held_records_take_at_most_twice_their_bytes() -> None:
    world = World(rows=200)
    world.grow(0, 2_000)
    run, _ = world.look()
    draw(run)
    stored = sum(len(d.numpy.item()) for data in world.provider.stored["r"].values() for d in data)
    assert world.store.cache.nbytes < 1.5 * stored


def test_a_run_that_was_deleted_is_not_found_and_forgotten() -> None:
    world = World()
    world.grow(0, 600)
    world.look()
    assert world.store.cache.nbytes > 0
    del world.provider.stored["r"]
    with pytest.raises(errors.NotFoundError, match="There is no run 'r' with gradient health records"):
        world.look()
    assert world.store.cache.nbytes == 0


def test_a_run_that_was_deleted_and_begun_anew_shows_the_new_one() -> None:
    world = World()
    world.grow(0, 600)
    world.look()
    del world.provider.stored["r"]
    writer = world.provider.writer("r", start=9_000.0)
    writer.schema(schema(["other"], generation=2_000))
    writer.records(steps(0, [[NAN]]), "adam", 2_000)
    run, _ = world.look()
    assert [v.name for v in run.tables["adam"].schema.variables] == ["other"]
    assert run.tables["adam"].last_step == 0


def test_a_run_without_our_data_and_one_that_never_was_are_not_found() -> None:
    world = World()
    world.provider.stored["train"] = {}
    for name in ("train", "nowhere", "../../etc/passwd"):
        with pytest.raises(errors.NotFoundError):
            world.store.run(where(), name)


def test_experiments_do_not_mix() -> None:
    from tb_gradhealth.serve.source import Where

    world = World()
    world.grow(0, 10)
    world.look()
    assert world.store.known_health(Where(None, "other"), world.store.source.series(where())) == {}


def test_a_verdict_is_known_until_the_run_changes() -> None:
    world = World()
    world.grow(0, 10)
    run, insights = world.store.run(where(), "r")
    listing = world.store.source.series(where())
    assert world.store.known_health(where(), listing) == {}
    health = insights.health(run)
    assert world.store.known_health(where(), listing) == {"r": health}
    assert insights.health(run) is health
    world.grow(10, 1)
    assert world.store.known_health(where(), world.store.source.series(where())) == {}


@pytest.mark.parametrize("how", ["schema", "tag"])
def test_a_newer_format_is_named_and_nothing_of_the_run_is_shown(how) -> None:
    world = World()
    world.grow(0, 10)
    if how == "schema":
        world.writer.schema(schema(["a"], group="b", format_version=3))
    else:
        world.provider.content["r", "schema/adam/1000"] = b"3"
    run, _ = world.look()
    assert run.newer_format == 3
    assert run.tables == {}
    assert "format 3" in run.problems[0]


@pytest.mark.parametrize(("kept", "told"), [(100, True), (512, False), (None, False)])
def test_records_that_were_sampled_away_are_counted(kept, told) -> None:
    world = World(kept=kept)
    world.grow(0, 600)
    for data in world.provider.stored["r"].values():
        if kept:
            del data[: max(0, len(data) - kept)]
    sampling = world.look()[0].sampling
    assert (sampling is not None) == told
    if sampling is not None:
        assert (sampling.shown, sampling.stored) == (188, 600)
        assert sampling.flag == "--samples_per_plugin=gradhealth=100"


def test_a_damaged_record_is_told_each_time() -> None:
    world = World()
    world.grow(0, 3)
    data = world.provider.stored["r"]["records/adam/1000/000000"]
    data[1].numpy[...] = b"\xff\xff"
    for _ in range(2):
        run, _ = world.look()
        assert len(run.problems) == 1
        assert run.problems[0].startswith("records/adam/1000/000000, step 1: ")
    assert run.tables["adam"].scalars().first_step.tolist() == [0, 2]


def test_a_segment_that_shrank_while_it_was_away_is_an_error_that_says_to_ask_again() -> None:
    world = World(limit=1)
    world.grow(0, 600)
    run, _ = world.look()
    del world.provider.stored["r"]["records/adam/1000/000000"][100:]
    with pytest.raises(UnavailableError, match="The run 'r' changed while it was being read"):
        draw(run)


def test_many_requests_at_once_read_a_run_once() -> None:
    world = World()
    world.grow(0, 3_000)
    barrier = threading.Barrier(8)
    revisions = []

    def ask() -> None:
        barrier.wait()
        revisions.append(world.store.run(where(), "r")[0].revision)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(revisions)) == 1
    assert len(revisions) == 8
    assert len(world.provider.reads) == len(set(world.provider.reads))


def test_a_run_whose_every_step_is_ok_is_healthy() -> None:
    world = World()
    world.writer.records(steps(0, np.full((30, 4), OK)), "adam", 1_000)
    run, insights = world.store.run(where(), "r")
    assert insights.health(run).verdict == "healthy"
