"""Histograms of norms, against NumPy's own median."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_gradhealth.serve.histogram import Histograms


def lower_median(values: np.ndarray, weights: np.ndarray) -> float:
    """The first value at which half of the weight is reached."""
    order = np.argsort(values)
    return float(values[order][np.searchsorted(weights[order].cumsum(), weights.sum() / 2)])


@settings(deadline=None)
@given(st.integers(0, 2**16), st.integers(1, 60), st.integers(1, 4), st.floats(0, 8), st.integers(1, 60))
def test_the_median_is_right_within_seven_percent(seed, count, rows, spread, portion) -> None:
    random = np.random.default_rng(seed)
    norms = (10 ** random.uniform(-spread, spread / 2, (count, rows))).astype(np.float32)
    norms[random.random(norms.shape) < 0.2] = random.choice([0, np.nan, np.inf])
    weights = random.integers(0, 50, (count, rows))
    histograms = Histograms(rows)
    for low in range(0, count, portion):
        histograms.add(norms[low : low + portion], weights[low : low + portion])
    for row, found in enumerate(histograms.median()):
        sound = np.isfinite(norms[:, row]) & (norms[:, row] > 0) & (weights[:, row] > 0)
        if sound.any():
            expected = lower_median(norms[sound, row].astype(float), weights[sound, row])
            assert found == pytest.approx(expected, rel=0.07)
        else:
            assert np.isnan(found)


def test_memory_follows_the_range_of_norms_and_has_an_end() -> None:
    histograms = Histograms(10)
    assert np.isnan(histograms.median()).all()
    histograms.add(np.full((100, 10), 0.5, np.float32), np.ones((100, 1)))
    assert histograms._counts.shape == (1, 10)
    histograms.add(np.full((100, 10), 1.0, np.float32), np.ones((100, 1)))
    assert histograms._counts.shape == (17, 10)
    histograms.add(np.array([[1e-45] * 5 + [3e38] * 5], np.float32), np.ones((1, 1)))
    histograms.add(np.array([[1e-38] * 5 + [3e38] * 5], np.float32), np.ones((1, 1)))
    assert len(histograms._counts) <= 64 * 16
