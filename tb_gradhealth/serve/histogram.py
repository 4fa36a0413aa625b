"""Histograms of norms, one for each row, that grow with what they are given. Pure.

Sixteen bins to the octave, cut out of the float's own bits: no logarithm is taken. Only bins between the smallest and
the largest norm seen take memory; norms beyond 64 octaves are counted in the outermost.
"""

import numpy as np

from tb_gradhealth.format.windows import Array

_SHIFT = 19  # leaves exponent and four bits of the mantissa of a float32
_OCTAVE = 16
_FIRST, _LAST = (127 - 40) * _OCTAVE, (127 + 24) * _OCTAVE - 1  # 2**-40 … 2**24
_INFINITE = 255 * _OCTAVE


class Histograms:
    """Of `rows` rows. A norm counts if it is finite and above 0."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._first = _FIRST
        self._counts = np.zeros((0, rows))
        self._sums = np.zeros((0, rows))

    def add(self, norms: Array, weights: Array) -> None:
        """Takes in norms.

        Args:
          norms: float32 ``[n, rows]``.
          weights: how often each counts, ``[n, 1]`` or ``[n, rows]``, not negative.
        """
        bits = np.ascontiguousarray(norms, np.float32).view(np.uint32) >> _SHIFT
        sound = (bits > 0) & (bits < _INFINITE)
        every = bool(sound.all())
        bins = np.clip(bits if every else bits[sound], _FIRST, _LAST).astype(np.intp)
        if not bins.size:
            return
        self._reach(int(bins.min()), int(bins.max()))
        columns = np.broadcast_to(np.arange(self._rows), norms.shape)
        weights = np.broadcast_to(weights, norms.shape)
        if not every:
            columns, weights, norms = columns[sound], weights[sound], norms[sound]
        flat = ((bins - self._first) * self._rows + columns).ravel()
        shape = self._counts.shape
        self._counts += np.bincount(flat, weights.ravel(), self._counts.size).reshape(shape)
        self._sums += np.bincount(flat, (weights * norms).ravel(), self._sums.size).reshape(shape)

    def median(self) -> Array:
        """The mean of the norms in the middle bin, within 7 % of the median: float32 ``[rows]``, NaN for none."""
        if not len(self._counts):
            return np.full(self._rows, np.nan, np.float32)
        cumulated = self._counts.cumsum(axis=0)
        total = cumulated[-1]
        middle = (cumulated >= total / 2).argmax(axis=0)[None]
        count, norms = (np.take_along_axis(table, middle, axis=0)[0] for table in (self._counts, self._sums))
        return np.where(total > 0, norms / np.maximum(count, 1), np.nan).astype(np.float32)

    def _reach(self, low: int, high: int) -> None:
        """Makes room for the bins from `low` to `high`."""
        if not len(self._counts):
            self._first = low
        end = self._first + len(self._counts)
        before, after = max(self._first - low, 0), max(high + 1 - end, 0)
        if before or after:
            self._first -= before
            self._counts, self._sums = (
                np.pad(table, ((before, after), (0, 0))) for table in (self._counts, self._sums)
            )
