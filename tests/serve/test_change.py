"""The norm relative to what is usual for the variable."""

import numpy as np
import pytest
from serve_world import NAN, OK, ZERO, FakeProvider, random_steps, schema, steps, where

from tb_gradhealth.serve.change import UsualNorms
from tb_gradhealth.serve.histogram import Histograms
from tb_gradhealth.serve.source import Source
from tb_gradhealth.serve.store import Store


class World:
    """A run that grows, and its table."""

    def __init__(self, names=("a", "b")) -> None:
        self.provider = FakeProvider()
        self.writer = self.provider.writer("r")
        self.writer.schema(schema(names))
        self.store = Store(Source(self.provider))

    def add(self, windows) -> None:
        self.writer.records(windows, "adam", 1_000)

    @property
    def table(self):
        return self.store.run(where(), "r")[0].tables["adam"]

    def change(self, usual=None) -> np.ndarray:
        known = (usual or UsualNorms()).follow(self.table)
        return np.concatenate([known.change(block, slice(None)) for block in self.table.blocks])


def test_a_constant_norm_is_one_and_a_spike_is_its_factor() -> None:
    world = World()
    norms = np.full((100, 2), 0.3)
    norms[50, 1] = 30
    world.add(steps(0, np.full((100, 2), OK), norms))
    change = world.change()
    np.testing.assert_allclose(change[:, 0], 1, rtol=1e-6)
    np.testing.assert_allclose(change[50, 1], 100, rtol=1e-6)
    np.testing.assert_allclose(np.delete(change[:, 1], 50), 1, rtol=1e-6)


def test_it_is_within_seven_percent_of_the_running_median_at_its_last_renewal() -> None:
    world = World()
    windows = random_steps(0, 700, 2, ill=0)
    windows.norm_last[:] = windows.norm_mean[:] = windows.norm_max[:] = np.exp(
        np.random.default_rng(1).normal(0, 0.05, (700, 2)) + np.linspace(0, 3, 700)[:, None]
    )
    world.add(windows)
    usual = windows.norm_max / world.change()
    norms = windows.norm_mean.astype(float)
    renewals, at = [], 0
    while at < 700:
        renewals.append(at)
        at += max(1, at // 8)
    for i in range(1, 700):
        known = norms[: max(r for r in renewals if r <= i)]
        expected = np.median(known, axis=0)
        np.testing.assert_allclose(usual[i], expected, rtol=0.07)


def test_zeros_and_ill_steps_do_not_move_what_is_usual() -> None:
    world = World(["a"])
    states = np.full((60, 1), OK)
    states[1:40:2] = ZERO
    states[2:40:4] = NAN
    world.add(steps(0, states, 2.0))
    change = world.change()[:, 0]
    np.testing.assert_allclose(change[states[:, 0] == OK], 1, rtol=1e-6)
    assert (change[states[:, 0] == ZERO] == 0).all()
    assert np.isnan(change[states[:, 0] == NAN]).all()


def test_following_a_growing_run_gives_what_reading_it_at_once_gives() -> None:
    world, usual = World(), UsualNorms()
    windows = random_steps(0, 1_200, 2, ill=0.1)
    for low, high in ((0, 1), (1, 300), (300, 900), (900, 1_200)):
        world.add(windows.select(slice(low, high)))
        world.change(usual)
    np.testing.assert_array_equal(world.change(usual), world.change())


def test_steps_that_were_replaced_are_forgotten() -> None:
    world, usual = World(["a"]), UsualNorms()
    world.add(steps(0, np.full((50, 1), OK), 1.0))
    world.change(usual)
    world.add(steps(1, np.full((5, 1), OK), 8.0))
    np.testing.assert_array_equal(world.change(usual), world.change())
    np.testing.assert_allclose(world.change(usual)[:, 0], [1, 8, 8, 1, 1, 1], rtol=1e-6)


def test_what_was_given_stays_valid_while_the_run_grows() -> None:
    world, usual = World(), UsualNorms()
    world.add(random_steps(0, 100, 2, ill=0))
    table = world.table
    given = usual.follow(table)
    before = given.change(table.blocks[0], slice(None))
    world.add(random_steps(100, 900, 2, ill=0))
    usual.follow(world.table)
    np.testing.assert_array_equal(given.change(table.blocks[0], slice(None)), before)


def test_of_a_long_run_a_sample_tells_what_is_usual(monkeypatch) -> None:
    world = World(["a"])
    norms = np.exp(np.random.default_rng(2).normal(0, 1, (6_000, 1)))
    for first in range(0, 6_000, 500):
        world.add(steps(first, np.full((500, 1), OK), norms[first : first + 500]))
    looked: list[int] = []
    add = Histograms.add
    monkeypatch.setattr(
        Histograms, "add", lambda own, some, weights: (looked.append(len(some)), add(own, some, weights))
    )
    change = world.change()[:, 0]
    assert sum(looked) < 3_000
    for step in (1_500, 3_000, 5_999):
        assert norms[step, 0] / change[step] == pytest.approx(np.median(norms[:step]), rel=0.15)
