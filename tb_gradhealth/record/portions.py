"""Putting steps in order and in portions before they are worked in. Pure NumPy."""

from collections.abc import Iterator, Sequence

import numpy as np

from tb_gradhealth.format.log import ascending
from tb_gradhealth.format.windows import Windows

PORTION = 256
"""Steps worked in before the device is looked at again: its ring must not wrap meanwhile."""


def in_order(parts: Sequence[Windows]) -> Windows:
    """All windows together: as they came where they are of one channel, else by step."""
    windows = Windows.concatenate(parts)
    if len(parts) == 1 or (np.diff(windows.first_step) > 0).all():
        return windows
    return windows.select(np.argsort(windows.first_step, kind="stable"))


def in_portions(windows: Windows) -> Iterator[Windows]:
    """The windows, at most `PORTION` at a time, cut where a step does not come after the one before."""
    for rising in ascending(windows):
        for low in range(0, len(rising), PORTION):
            yield rising.select(slice(low, low + PORTION))
