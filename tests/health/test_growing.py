"""The health of a growing run: the portions do not matter, for any rule, and its age does not either."""

import itertools
import sys
import time

import numpy as np
import pytest
from health_world import INF, NAN, run_of, schema_of, steps_of, widened

from tb_gradhealth.format.log import GroupLog, RunLog, union_schema
from tb_gradhealth.health import Assessment, Tracker, assess
from tb_gradhealth.health.rules import RULES
from tb_gradhealth.health.timeline import Timeline

ROWS = 10


def noise(steps, seed=0, spread=0.2):
    return np.exp(np.random.default_rng(seed).normal(0, spread, (steps, ROWS)))


def eventful(seed):
    """Calm stretches and illnesses in an order that `seed` draws: rough ones for even seeds, mild ones for odd."""
    return _rough(np.random.default_rng(seed), seed) if seed % 2 == 0 else _mild(np.random.default_rng(seed), seed)


def _rough(generator, seed):
    parts = [noise(120, seed) * 1e6, noise(120, seed)]
    parts[0][:, :4] *= 10.0 ** -np.arange(8, 0, -2)
    for event in generator.permutation(6):
        norms = noise(80, seed + 10 * event)
        at = int(generator.integers(2, 40))
        match event:
            case 0:
                norms[at : at + int(generator.integers(1, 9)), 3] = NAN
            case 1:
                norms[at:70, 4:6] = INF
            case 2:
                norms[at : at + 20, 6] = -1  # None
            case 3:
                norms[at:, 1] = 0
            case 4:
                norms[:, 7] *= 1e-7
            case 5:
                norms *= 1e-9
        parts.append(norms)
    norms = np.concatenate(parts)
    windows = steps_of([[None if x == -1 else x for x in row] for row in norms.tolist()], loss=2.0)
    n = len(windows)
    windows.none_steps[:, 9] = 1
    windows.nan_steps[260:300, 8] = windows.handled_steps[260:300, 8] = 1
    windows.first_bad_step[260:300, 8] = windows.first_step[260:300]
    windows.loss_nonfinite_steps[generator.integers(0, n, 5)] = 1
    windows.loss[130:134], windows.loss_nonfinite_steps[130:134] = INF, 1
    windows.loss_scale[:] = np.where(np.arange(n) % 400 < 50, 2.0**-12, 1024.0)
    windows.clipped_steps[int(generator.integers(3, 30)) :] = 1
    windows.detail_step[::7] = windows.last_step[::7]
    windows.weight_norm[::7] = 1.0
    windows.update_ratio[::7] = np.where(windows.detail_step[::7] % 300 < 60, 3.0, 1e-12)[:, None]
    return windows


def _mild(generator, seed):
    parts, losses = [noise(600, seed)], [np.full(600, 2.0)]
    for event in generator.permutation(4):
        norms, loss = noise(240, seed + 10 * event), np.full(240, 2.0)
        at = int(generator.integers(2, 40))
        match event:
            case 0:
                norms[at] *= 500
            case 1:
                norms[:200:2] *= 20
            case 2:
                norms[:, 7] *= 1e-7
            case 3:
                norms *= np.geomspace(1, 1e4, 240)[:, None]
                loss = np.geomspace(2, 1e4, 240)
        parts += [norms, noise(120, seed)]
        losses += [loss, np.full(120, 2.0)]
    return steps_of(np.concatenate(parts).tolist(), loss=np.concatenate(losses))


def schema(**fields):
    listed = [{} for _ in range(ROWS)]
    listed[9] = {"expected_none": True}
    return schema_of(listed, global_clip_norm=1e-3, **fields)


def portions(length, generator, mean):
    edges = [0]
    while edges[-1] < length:
        edges.append(min(length, edges[-1] + int(generator.integers(1, 2 * mean))))
    return [slice(a, b) for a, b in itertools.pairwise(edges)]


def fed(windows, cuts, generations):
    assessment = Assessment({"adam": generations})
    for cut in cuts:
        assessment.feed("adam", windows.select(cut))
    return assessment


@pytest.mark.parametrize("width", [1, 4])
def test_every_rule_has_something_to_say_of_the_runs_below(width):
    spoken = {i.rule for seed in range(4) for i in assess(run_of(widened(eventful(seed), width), schema())).incidents}
    silent = {rule.name for rule in RULES} - spoken
    assert not silent - ({"clipping"} if width > 1 else set())  # it takes 200 windows


@pytest.mark.parametrize("mean", [1, 6, 40, 300])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("width", [1, 4])
def test_portions_do_not_matter(seed, mean, width):
    windows = widened(eventful(seed), width)
    run = run_of(windows, schema(), incidents=_noted(windows))
    cuts = portions(len(windows), np.random.default_rng(seed), mean)
    assessment = fed(windows, cuts, [schema()])
    assert assessment.health(incidents=run.incidents) == assess(run)


def _noted(windows):
    tracker = Tracker(schema())
    tracker.feed(windows.select(slice(len(windows) // 3, None)))
    return tracker.to_proto()


def test_looking_changes_nothing():
    windows = eventful(1)
    quiet, watched = Assessment({"adam": [schema()]}), Assessment({"adam": [schema()]})
    for cut in portions(len(windows), np.random.default_rng(1), 30):
        quiet.feed("adam", windows.select(cut))
        watched.feed("adam", windows.select(cut))
        watched.health()
    assert quiet.health() == watched.health()


def test_generations_are_one_table_as_in_a_whole_log():
    old, new = schema_of(2), schema_of(3)
    new.generation = 2
    union, places = union_schema([old, new])
    windows = steps_of([[1.0, NAN, "-"], [1.0, 1.0, 1.0]])
    run = RunLog({"adam": GroupLog(union, [old, new], windows, windows.select(slice(0)))})
    assert fed(windows, [slice(0, 1), slice(1, 2)], [old, new]).health() == assess(run)
    assert len(places) == 2


def test_nothing_fed_has_no_verdict():
    health = Assessment({"adam": [schema()]}).health()
    assert health.verdict is None and [v.state for v in health.variables] == ["not_recorded"] * ROWS


def test_windows_of_another_width_are_refused():
    with pytest.raises(ValueError, match="10 variables on 1 replicas make 10"):
        Assessment({"adam": [schema()]}).feed("adam", steps_of([[1.0]]))


def _size(thing, seen):
    if id(thing) in seen or isinstance(thing, type):
        return 0
    seen.add(id(thing))
    size = thing.nbytes if isinstance(thing, np.ndarray) else sys.getsizeof(thing)
    if isinstance(thing, dict):
        return size + sum(_size(v, seen) for pair in thing.items() for v in pair)
    if hasattr(thing, "__iter__") and not isinstance(thing, (str, bytes, np.ndarray)):
        return size + sum(_size(v, seen) for v in thing)
    return size + sum(_size(v, seen) for v in getattr(thing, "__dict__", {}).values())


def test_neither_memory_nor_time_grows_with_the_run():
    """Once there are as many incidents as are kept, a refresh is what it was fifty thousand windows ago."""
    assessment = Assessment({"adam": [schema()]})
    piece = eventful(2)
    length = len(piece) + 5
    durations, sizes = [], []
    for turn in range(120):
        for name in ("first_step", "last_step", "norm_max_step"):
            getattr(piece, name)[:] += length if turn else 0
        piece.detail_step[piece.detail_step >= 0] += length if turn else 0
        piece.first_bad_step[piece.first_bad_step >= 0] += length if turn else 0
        assessment.feed("adam", piece.select(slice(0, len(piece) - 8)))
        begin = time.perf_counter()
        assessment.feed("adam", piece.select(slice(len(piece) - 8, None)))
        assessment.health()
        durations.append(time.perf_counter() - begin)
        sizes.append(_size(assessment._groups["adam"].tracker, set()))
    assert max(sizes[-3:]) < 1.1 * max(sizes[55:60])
    assert min(durations[-10:]) < 2 * min(durations[50:60])


# the timeline ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 2, 7, 100])
@pytest.mark.parametrize("seed", range(6))
def test_a_timeline_finds_what_a_search_through_all_windows_finds(seed, cut):
    generator = np.random.default_rng(seed)
    windows = steps_of([[1.0]] * 100)
    gaps = np.repeat(generator.integers(0, 3, 10), 10) if seed % 2 else generator.integers(0, 3, 100)
    widths = np.repeat(generator.integers(1, 4, 10), 10)
    windows.last_step[:] = np.cumsum(widths + gaps)
    windows.first_step[:] = windows.last_step - widths + 1
    windows.steps[:] = np.maximum(widths - generator.integers(0, 2, 100) * (seed % 3), 1)
    timeline = Timeline()
    for low in range(0, 100, cut):
        timeline.add(windows.select(slice(low, low + cut)))
    for step in range(-1, int(windows.last_step[-1]) + 3):
        inside = np.flatnonzero((windows.first_step <= step) & (step <= windows.last_step))
        expected = (int(windows.last_step[inside[0]]), int(windows.steps[inside[0]])) if inside.size else None
        assert timeline.holding(step) == expected


def test_a_timeline_of_doubling_windows_is_a_piece_for_each_width():
    timeline, first = Timeline(), 0
    for width in (1, 2, 4, 8):
        for _ in range(512):
            window = steps_of([[1.0]], first=first)
            window.last_step[:], window.steps[:] = first + width - 1, width
            timeline.add(window)
            first += width
    assert len(timeline) <= 8
