"""What the user's flag threw away."""

import numpy as np
import pytest

from tb_gradhealth.serve.sampling import Sampling, sampling_of

FULL = np.arange(512)


def segments(*steps):
    return [[(3, np.asarray(s)) for s in steps]]


@pytest.mark.parametrize("kept", [None, 0])
def test_nothing_is_missing_where_everything_is_kept(kept) -> None:
    assert sampling_of(segments(FULL[::8], FULL + 512), kept) is None


def test_a_full_segment_of_which_some_are_kept_has_lost_the_rest() -> None:
    sample = [np.sort(np.random.default_rng(i).choice(512, 100, replace=False)) + 512 * i for i in range(3)]
    found = sampling_of(segments(*sample), 100)
    assert found is not None
    assert found.shown == 300
    assert 512 * 2 + 400 <= found.stored <= 512 * 3
    assert found.flag == "--samples_per_plugin=gradhealth=100"


def test_a_flag_that_lost_nothing_yet_is_not_mentioned() -> None:
    assert sampling_of(segments(FULL[:100]), 100) is None
    assert sampling_of(segments(FULL[:40]), 100) is None
    assert sampling_of(segments(FULL, FULL[:10] + 512), 600) is None


def test_recording_every_tenth_step_is_not_sampling() -> None:
    assert sampling_of(segments(FULL[:100] * 10), 100) is None


def test_a_segment_that_ended_because_steps_went_back_has_lost_nothing() -> None:
    assert sampling_of(segments(FULL[:100], FULL[:100] + 50), 100) is None


def test_the_count_of_several_groups_adds_up() -> None:
    lost = segments(FULL[::8], FULL[:10] + 512) + segments(FULL[:20])
    assert sampling_of(lost, 64) == Sampling(64 + 10 + 20, 512 + 10 + 20, "--samples_per_plugin=gradhealth=64")


def test_one_record_left_of_each_segment() -> None:
    found = sampling_of(segments([500], [1000], [1030]), 1)
    assert found is not None
    assert (found.shown, found.stored) == (3, 512 * 2 + 1)
