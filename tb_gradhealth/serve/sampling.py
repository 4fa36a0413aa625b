"""Whether the user's flag made TensorBoard throw records away, and how many. Pure."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from tb_gradhealth.format.tags import PLUGIN_NAME, segment_records
from tb_gradhealth.format.windows import Array


@dataclasses.dataclass(frozen=True)
class Sampling:
    """Records that there are and records that are shown.

    Attributes:
      shown: records that TensorBoard kept.
      stored: records in the event files, as far as can be told from those kept.
      flag: the flag that did it.
    """

    shown: int
    stored: int
    flag: str


def sampling_of(segments: Sequence[Sequence[tuple[int, Array]]], kept: int | None) -> Sampling | None:
    """What was sampled away, None for nothing.

    Args:
      segments: for each generation of each group, its segments in order: rows, and int64 ``[windows]``, the first
        steps of the windows that were kept.
      kept: how many records of a series TensorBoard was told to keep; 0 or None: all.
    """
    if not kept:
        return None
    shown = stored = 0
    for generation in segments:
        for (rows, steps), following in zip(generation, [*generation[1:], None], strict=True):
            shown += len(steps)
            stored += _stored(segment_records(rows), steps, None if following is None else following[1], kept)
    return Sampling(shown, stored, f"--samples_per_plugin={PLUGIN_NAME}={kept}") if stored > shown else None


def _stored(full: int, steps: Array, following: Array | None, kept: int) -> int:
    if len(steps) < kept:
        return len(steps)
    ended_by_going_back = following is not None and len(following) and len(steps) and following[0] <= steps[-1]
    if following is not None and not ended_by_going_back:
        return max(full, len(steps))
    if len(steps) < 2:
        return len(steps)
    usual = max(int(np.diff(steps).min()), 1)
    return max(len(steps), min(full, int(steps[-1] - steps[0]) // usual + 1))
