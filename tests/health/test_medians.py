"""The fast medians against NumPy's."""

import warnings

import numpy as np
import pytest

from tb_gradhealth.health.medians import median_of_eight, median_of_few, median_of_many


def test_eight_zeros_and_ones_in_every_order():
    every = (np.arange(256)[:, None] >> np.arange(8)) & 1  # what sorts these sorts everything
    np.testing.assert_array_equal(median_of_eight(every.astype(float)), np.median(every, axis=1))


@pytest.mark.parametrize("missing", [0.0, 0.2, 0.9])
def test_eight_windows_as_nanmedian(missing):
    generator = np.random.default_rng(0)
    values = generator.normal(size=(50, 8, 7))
    values[generator.random(values.shape) < missing] = np.nan
    values[0, :, 0] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's about columns without a number
        expected = np.nanmedian(values, axis=1)
    np.testing.assert_allclose(median_of_eight(values), expected)


def test_few_and_many():
    assert median_of_few([3.0, float("nan"), 1.0]) == 2.0
    assert median_of_many(np.array([3.0, np.nan, 1.0, 2.0])) == 2.0
    assert np.isnan(median_of_few([])) and np.isnan(median_of_many(np.array([np.nan])))
