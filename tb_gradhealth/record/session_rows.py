"""Rows that a TensorFlow 1 session hands over: the host's end of a channel that has no ring."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tb_gradhealth.format.windows import Array, Windows
from tb_gradhealth.record import history, layout
from tb_gradhealth.record.clipping import NO_CLIPPING, Clipping


class SessionRows:
    """Collects rows until they are read.

    Args:
      variables: in the order of the rows' columns.
      numbered: the rows carry steps of their own; else they are counted from 0. A session may read its global step
        before or after the update that raises it, so a number that does not rise is raised.
    """

    def __init__(self, variables: Sequence[Any], numbered: bool, clipping: Clipping = NO_CLIPPING) -> None:
        self.variables = list(variables)
        self.empty = [tf.TensorShape(v.shape).num_elements() == 0 for v in self.variables]
        self._numbered = numbered
        self._clipping = clipping
        self._rows: list[layout.Floats] = []
        self._next_step = 0

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return layout.width(len(self.variables))

    def add(self, row: layout.Floats) -> None:
        """One step: float32 ``[width]``."""
        self._rows.append(row)

    def fetch(self) -> tuple[int, bool]:
        """As `Channel.fetch`: steps are handed over, there is nothing to fetch."""
        return 0, False

    def bad_steps(self, expected_none: Array) -> int:
        """As `Channel.bad_steps`."""
        rows = layout.split_rows(np.stack(self._rows)) if self._rows else None
        return 0 if rows is None else len(history.ill_steps(rows, expected_none))

    def last_global_norm(self) -> float | None:
        """As `Channel.last_global_norm`."""
        return float(history.global_norms(layout.split_rows(self._rows[-1][None]))[0]) if self._rows else None

    def read(self, place: history.Place) -> list[Windows]:
        """The steps added since the last call."""
        if not self._rows:
            return []
        rows = layout.split_rows(np.stack(self._rows))
        self._rows = []
        for index, step in enumerate(rows.step):
            rows.step[index] = self._next_step = max(int(step), self._next_step) if self._numbered else self._next_step
            self._next_step += 1
        return [history.single_steps([rows], place, self._clipping)]
