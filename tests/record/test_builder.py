"""Windows: every step in exactly one, in order, doubling."""

import numpy as np
import pytest

from tb_gradhealth.format.states import State
from tb_gradhealth.format.tags import SEGMENT_RECORDS
from tb_gradhealth.format.windows import Windows
from tb_gradhealth.record.builder import WindowBuilder
from tb_gradhealth.record.flight import MAX_FLIGHTS, STEPS, FlightRecorder


def steps(first, count, rows=2):
    windows = Windows.blank(count, rows)
    windows.first_step[:] = windows.last_step[:] = np.arange(first, first + count)
    windows.steps[:] = 1
    windows.state_last[:] = State.FINITE
    for name in ("norm_last", "norm_min", "norm_max", "norm_mean"):
        getattr(windows, name)[:] = 1.0
    windows.norm_max_step[:] = windows.first_step[:, None]
    return windows


def build(every, total, portion):
    builder = WindowBuilder(every)
    parts = [builder.add(steps(first, min(portion, total - first))) for first in range(0, total, portion)]
    pending = builder.take_pending()
    return Windows.concatenate(parts + ([pending] if pending is not None else []))


@pytest.mark.parametrize("portion", [1, 7, 64, 1000])
def test_auto_windows_double_after_each_segment(portion):
    windows = build("auto", 4000, portion)
    assert (windows.steps[:512] == 1).all()
    assert (windows.steps[512:1024] == 2).all()
    assert (windows.steps[1024 : 1024 + 512] == 4).all()
    assert windows.steps.sum() == 4000


@pytest.mark.parametrize("every", ["auto", 1, 3, 10])
@pytest.mark.parametrize("portion", [1, 13])
def test_every_step_is_in_one_window(every, portion):
    windows = build(every, 1100, portion)
    assert windows.first_step[0] == 0 and windows.last_step[-1] == 1099
    np.testing.assert_array_equal(windows.first_step[1:], windows.last_step[:-1] + 1)


def test_how_many_records_a_million_steps_make():
    """By arithmetic: 512 records of each width 1, 2, 4, ..."""
    builder, steps_left, records = WindowBuilder("auto"), 10**6, 0
    width = 1
    while steps_left > 0:
        taken = min(SEGMENT_RECORDS, -(-steps_left // width))
        records, steps_left, width = records + taken, steps_left - taken * width, width * 2
    assert records < 6000
    assert builder.width == 1


def test_a_wider_window_stays_whole():
    builder = WindowBuilder(4)
    wide = steps(0, 10).merged(np.array([0]))
    done = builder.add(wide)
    assert done.steps.tolist() == [10]
    assert builder.add(steps(10, 4)).steps.tolist() == [4]


def test_a_pending_window_that_is_taken_is_not_repeated():
    builder = WindowBuilder(4)
    assert not len(builder.add(steps(0, 3)))
    assert builder.take_pending().steps.tolist() == [3]
    assert builder.take_pending() is None
    assert builder.add(steps(3, 4)).first_step.tolist() == [3]


def flown(flight, first, count, incident):
    found = flight.add(steps(first, count), incident, already_stored=False)
    return [] if found is None else found.first_step.tolist()


def test_flight_holds_the_steps_before_and_after_an_incident_once_each():
    flight = FlightRecorder()
    written = []
    for first in range(0, 1000, 50):
        written += flown(flight, first, 50, incident=first == 500)
    assert written == list(range(500 - STEPS, 550 + STEPS))


def test_two_incidents_close_together_write_no_step_twice():
    flight = FlightRecorder()
    written = []
    for first in range(0, 600, 20):
        written += flown(flight, first, 20, incident=first in (200, 240))
    assert written == sorted(set(written))
    assert written[0] == 200 - STEPS and written[-1] == 260 + STEPS - 1


def test_flight_writes_nothing_while_records_are_single_steps():
    flight = FlightRecorder()
    assert flight.add(steps(0, 50), True, already_stored=True) is None


def test_flights_are_bounded():
    flight = FlightRecorder()
    written = sum(bool(flown(flight, first, 50, incident=first % 500 == 0)) for first in range(0, 60_000, 50))
    assert flight.number == MAX_FLIGHTS - 1
    assert written <= MAX_FLIGHTS * 3
