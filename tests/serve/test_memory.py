"""Handing memory back."""

import ctypes

import numpy as np
import pytest
from serve_world import random_steps, where
from test_store import World

from tb_gradhealth.serve import memory
from tb_gradhealth.serve.memory import Tidy, give_back


@pytest.fixture(autouse=True)
def fresh() -> None:
    memory._trim.cache_clear()


@pytest.mark.parametrize("error", [OSError("no libc"), AttributeError("malloc_trim"), TypeError("Windows")])
def test_where_the_c_library_cannot_it_does_nothing(monkeypatch, error) -> None:
    def refuse(name: object) -> object:
        raise error

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    give_back()
    memory._trim.cache_clear()


def test_it_is_done_once_for_each_run_and_not_at_every_refresh(monkeypatch) -> None:
    called = []
    monkeypatch.setattr(memory, "_trim", lambda: called.append)
    world = World()
    for first in (0, 10, 20):
        world.writer.records(random_steps(first, 10, 4, ill=0), "adam", 1_000)
        run, insights = world.store.run(where(), "r")
        insights.health(run)
        insights.health(run)
    assert called == [0]


def test_it_is_done_each_time_that_enough_answers_have_passed(monkeypatch) -> None:
    called = []
    monkeypatch.setattr(memory, "_trim", lambda: called.append)
    tidy = Tidy(every=100)
    for _ in range(25):
        tidy.after(10)
    assert called == [0, 0]


def test_what_is_read_counts(monkeypatch) -> None:
    called = []
    monkeypatch.setattr(memory, "_trim", lambda: called.append)
    world = World()
    world.store.tidy._every = 1
    world.writer.records(random_steps(0, 10, 4, ill=0), "adam", 1_000)
    world.store.run(where(), "r")
    assert called == [0]


def test_freed_memory_leaves_the_process() -> None:
    if memory._trim() is None:
        pytest.skip("the C library keeps what was freed")

    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    small = [np.ones(2_000) for _ in range(4_000)]  # 64 MB in pieces that come from the heap
    kept = [np.ones(2_000) for _ in range(2)]
    full = resident()
    del small
    give_back()
    assert full - resident() > 30e6
    assert len(kept) == 2
