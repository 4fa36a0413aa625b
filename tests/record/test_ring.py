"""The ring on the device: what the host reads is what was recorded, also when it looks too late."""

import numpy as np
import pytest
import tensorflow as tf

from tb_gradhealth.format.columns import ROWS, SCALARS
from tb_gradhealth.format.states import State
from tb_gradhealth.record import history
from tb_gradhealth.record.clipping import NO_CLIPPING, Clipping
from tb_gradhealth.record.ring import Ring, StepFacts
from tb_gradhealth.record.statistics import NO_GRADIENT, measure

MODES = ["eager", "graph", "xla"]


def writer(ring, mode):
    def write(a, b, loss, handled):
        ring.write(measure([a, b, None]), StepFacts(loss=loss, handled=handled))

    return write if mode == "eager" else tf.function(write, jit_compile=mode == "xla", autograph=False)


def gradients(step):
    """Two gradients that meet every state on some step."""
    a = np.full(4, float(step % 7), "float32")
    b = np.arange(3, dtype="float32") + step
    if step in (20, 21):
        b[1] = np.nan
    if step == 33:
        b[:2] = np.inf
    return (
        tf.constant(a),
        tf.constant(b),
        tf.constant(float("nan") if step == 40 else 100.0 - step),
        tf.constant(step == 21),
    )


def windows_of(snapshot, place, clipping=NO_CLIPPING):
    parts = [] if snapshot.summary is None else [history.summed_up([snapshot.summary], place)]
    if len(snapshot.rows):
        parts.append(history.single_steps([snapshot.rows], place, clipping))
    return parts


@pytest.mark.parametrize("mode", MODES)
def test_rows_come_back_in_order_and_once(mode):
    ring, place = Ring(3, capacity=8), history.Place([0, 1, 2], 3)
    write = writer(ring, mode)
    steps = []
    for step in range(30):
        write(*gradients(step))
        if step % 5 == 4:
            (windows,) = windows_of(ring.read(), place)
            steps += windows.first_step.tolist()
            assert not len(ring.read().rows)
    assert steps == list(range(30))


@pytest.mark.parametrize("mode", MODES)
def test_steps_that_the_ring_had_no_room_for_are_summed_up_without_loss(mode):
    clipping = Clipping(norm=5.0, global_norm=50.0)
    place = history.Place([0, 1, 2], 3)
    small, large = Ring(3, capacity=8, clipping=clipping), Ring(3, capacity=64, clipping=clipping)
    for ring in (small, large):
        write = writer(ring, mode)
        for step in range(50):
            write(*gradients(step))
    summary, rest = windows_of(small.read(), place, clipping)
    (steps,) = windows_of(large.read(), place, clipping)
    assert len(rest) == 8
    expected = steps.select(slice(0, 42)).merged(np.array([0]))
    for column in (*SCALARS, *ROWS):
        found, wanted = getattr(summary, column.name), getattr(expected, column.name)
        np.testing.assert_allclose(found, wanted, rtol=2e-6, err_msg=column.name)


def test_the_summary_begins_anew_after_it_was_read():
    ring, place = Ring(3, capacity=4), history.Place([0, 1, 2], 3)
    write = writer(ring, "graph")
    for step in range(10):
        write(*gradients(step))
    first = windows_of(ring.read(), place)
    for step in range(10, 25):
        write(*gradients(step))
    second = windows_of(ring.read(), place)
    spans = [(int(w.first_step[0]), int(w.last_step[-1]), int(w.steps.sum())) for w in (*first, *second)]
    assert spans == [(0, 5, 6), (6, 9, 4), (10, 20, 11), (21, 24, 4)]


def test_step_numbers_beyond_float32_are_exact():
    ring = Ring(1, capacity=4)
    big = 123_456_789_012
    for step in (big, big + 1):
        ring.write(measure([tf.ones([2])]), StepFacts(step=tf.constant(step, tf.int64)))
    assert ring.read().rows.step.tolist() == [big, big + 1]


def test_states_of_a_row():
    ring, place = Ring(3, capacity=4), history.Place([0, 1, 2], 3)
    write = writer(ring, "graph")
    for step in (0, 20, 33):
        write(*gradients(step))
    (windows,) = windows_of(ring.read(), place)
    expected = [
        [State.ZERO, State.FINITE, State.NONE],
        [State.FINITE, State.NAN, State.NONE],
        [State.FINITE, State.INF, State.NONE],
    ]
    assert windows.state_last.tolist() == expected
    assert ring.read().last_seq == 0
    assert NO_GRADIENT < 0


def test_a_gradient_without_elements_is_not_called_zero():
    ring, place = Ring(1, capacity=4), history.Place([0], 1, empty=[True])
    ring.write(measure([tf.zeros([0])]), StepFacts())
    (windows,) = windows_of(ring.read(), place)
    assert windows.state_last[0, 0] == State.FINITE and windows.zero_steps[0, 0] == 0


def test_rows_find_their_places_in_a_wider_schema():
    ring, place = Ring(3, capacity=4), history.Place([4, 0, 2], 5)
    writer(ring, "graph")(*gradients(1))
    (windows,) = windows_of(ring.read(), place)
    states = [State.FINITE, State.NOT_RECORDED, State.NONE, State.NOT_RECORDED, State.FINITE]
    assert windows.state_last[0].tolist() == states
    assert windows.norm_last[0, 4] == 2.0
