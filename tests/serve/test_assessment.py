"""The verdict on a growing run: what it costs, and that it is the one on the run as it stands."""

import dataclasses

import numpy as np
import pytest
from serve_world import NAN, NONE, OK, FakeProvider, random_steps, schema, steps, where
from test_table import RUN, assembled

from tb_gradhealth.health import Assessment, assess
from tb_gradhealth.serve.assessment import Judge
from tb_gradhealth.serve.source import Source
from tb_gradhealth.serve.store import Store


class World:
    """A run that grows, one that judges it all the while, and the windows that this took."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.provider = FakeProvider()
        self.writer = self.provider.writer(RUN)
        self.store = Store(Source(self.provider))
        self.judge = Judge()
        self.looked: list[int] = []
        feed = Assessment.feed
        monkeypatch.setattr(
            Assessment,
            "feed",
            lambda own, group, windows: (self.looked.append(len(windows)), feed(own, group, windows))[1],
        )

    def begin(self, names=("a", "b"), group="adam", generation=1_000) -> None:
        self.writer.schema(schema(names, group=group, generation=generation))

    def check(self) -> int:
        """How many windows it took to say what `assess` says of the whole run."""
        self.looked.clear()
        found = self.judge.health(self.store.run(where(), RUN)[0])
        taken = sum(self.looked)  # `assess` feeds, too
        expected = assess(assembled(self.provider))
        for field in dataclasses.fields(found):
            assert getattr(found, field.name) == getattr(expected, field.name), field.name
        return taken


@pytest.fixture
def world(monkeypatch) -> World:
    return World(monkeypatch)


def test_a_look_at_a_growing_run_costs_what_is_new(world) -> None:
    world.begin()
    assert world.check() == 0
    for first in range(0, 1_500, 250):
        states = np.full((250, 2), OK)
        states[200:, 1] = NAN if first == 1_000 else OK
        world.writer.records(steps(first, states, 0.1 + 0.001 * np.arange(500).reshape(250, 2)), "adam", 1_000)
        assert world.check() == 250
    assert world.check() == 0


def test_a_group_that_begins_later_costs_the_run_once_more(world) -> None:
    world.begin()
    world.writer.records(random_steps(0, 40, 2, ill=0), "adam", 1_000)
    assert world.check() == 40
    world.begin(["x"], "sgd", 2_000)
    assert world.check() == 40
    world.writer.records(random_steps(0, 30, 1, ill=0), "sgd", 2_000)
    assert world.check() == 30
    world.writer.records(random_steps(40, 5, 2, ill=0), "adam", 1_000)
    world.writer.records(random_steps(30, 5, 1, ill=0), "sgd", 2_000)
    assert world.check() == 10


def test_steps_that_are_trained_again_are_judged_again(world) -> None:
    world.begin()
    states = np.full((60, 2), OK)
    states[50, 0] = NAN
    world.writer.records(steps(0, states), "adam", 1_000)
    world.check()
    world.writer.records(steps(45, np.full((30, 2), OK)), "adam", 1_000)
    assert world.check() == 45 + 30
    world.writer.records(steps(75, [[OK, NONE]] * 4), "adam", 1_000)
    assert world.check() == 4


def test_another_set_of_variables_is_judged_over_the_whole_run(world) -> None:
    world.begin()
    world.writer.records(random_steps(0, 20, 2, ill=0), "adam", 1_000)
    world.check()
    world.begin(["b", "c"], generation=3_000)
    world.writer.records(random_steps(20, 20, 2, ill=0), "adam", 3_000)
    assert world.check() == 40
    world.writer.records(random_steps(40, 7, 2, ill=0), "adam", 3_000)
    assert world.check() == 7
