"""How numbers, kinds and the healthy verdict are spelled."""

import pytest
from health_world import run_of, steps_of

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.health import assess, words


@pytest.mark.parametrize(
    ("value", "spelled"),
    [
        (0.0012345, "0.00123"),
        (999.4, "999"),
        (1843.0, "1,840"),
        (-1843.0, "-1,840"),
        (999_499.0, "999,000"),
        (999_501.0, "1e+06"),
        (4.56e12, "4.56e+12"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (0.0, "0"),
    ],
)
def test_numbers_have_three_digits_and_thousands(value, spelled):
    assert words.number(value) == spelled


def test_counts_have_thousands():
    assert (words.plural(1, "step"), words.plural(1500, "step")) == ("1 step", "1,500 steps")


def test_one_trained_variable_is_not_all_of_them():
    assert "reached the one trained variable and" in assess(run_of(steps_of([[1.0]]))).sentence
    assert "reached all 2 trained variables and" in assess(run_of(steps_of([[1.0, 1.0]]))).sentence


def test_a_stored_nan_is_spelled_as_people_write_it():
    seen = pb.Incident(kind="nan", group="adam", generation=1, first_step=90, last_step=90, steps=1, rows=[0])
    (incident,) = assess(run_of(steps_of([[1.0]] * 3), incidents=[seen])).incidents
    assert incident.sentence.startswith("layer0/kernel: NaN at step 90, as the writer noted")
