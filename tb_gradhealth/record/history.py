"""From rows of the ring to `Windows`: pure NumPy, no TensorFlow, the host's side of `layout`."""

from collections.abc import Sequence

import numpy as np

from tb_gradhealth.format.states import State
from tb_gradhealth.format.windows import Array, Windows
from tb_gradhealth.record import layout
from tb_gradhealth.record.clipping import NO_CLIPPING, Clipping

NO_GRADIENT = -1.0
LARGEST = np.float32(3.4028235e38)


class Place:
    """Where the rows of one list of variables stand among the rows of a schema.

    Args:
      index: int ``[variables]``: each variable's position among the schema's variables.
      variables: how many variables the schema has.
      replicas: how many replicas the schema has.
      empty: bool ``[variables]``: gradients without elements, which are never called zero.
    """

    def __init__(self, index: Sequence[int], variables: int, replicas: int = 1, empty: Sequence[bool] = ()) -> None:
        self._index = np.asarray(index, np.int64)
        self.replicas = replicas
        self.rows = variables * replicas
        self._variables = variables
        self.empty = np.asarray(empty if len(empty) else np.zeros(len(self._index)), bool)

    def of(self, replica: int) -> Array:
        """The schema rows of a replica's variables: int64 ``[variables]``."""
        return replica * self._variables + self._index


def single_steps(replicas: Sequence[layout.Rows], place: Place, clipping: Clipping = NO_CLIPPING) -> Windows:
    """One window for each step.

    Args:
      replicas: the same steps as each replica recorded them.
    """
    first = replicas[0]
    windows = Windows.blank(len(first), place.rows)
    windows.first_step[:] = windows.last_step[:] = first.step
    windows.steps[:] = 1
    windows.norm_max_step[:] = first.step[:, None]
    global_norms, clipped = [], np.zeros(len(first), bool)
    for replica, rows in enumerate(replicas):
        norms, state = _norms_and_states(rows, place.empty)
        at = place.of(replica)
        for name in ("norm_last", "norm_min", "norm_max", "norm_mean"):
            getattr(windows, name)[:, at] = norms
        windows.state_last[:, at] = state
        windows.nan_elements[:, at] = rows.nans
        windows.inf_elements[:, at] = rows.infs
        bad = state >= State.INF
        windows.first_bad_step[:, at] = np.where(bad, rows.step[:, None], -1)
        windows.handled_steps[:, at] = bad & (rows.scalars["handled"] > 0)[:, None]
        for name, value in _COUNTED.items():
            getattr(windows, name)[:, at] = state == value
        global_norms.append(_global_norm(norms, state))
        clipped |= clipping.acted(norms, global_norms[-1])
    _fill_scalars(windows, replicas, np.max(global_norms, axis=0), clipped)
    return windows


def add_details(windows: Windows, rows: layout.Rows, table: layout.Floats, place: Place, replica: int) -> bool:
    """Puts the detailed numbers into the window of their step. Returns whether that step was among the windows.

    Args:
      windows: one for each step of `rows`.
      table: float32 ``[DETAIL_ROWS, width]``.
    """
    seq = int(layout.split_rows(table[:1]).seq[0])
    found = np.flatnonzero(rows.seq == seq)
    if not len(found):
        return False
    at = int(found[0])
    body = table[:, len(layout.SCALARS) :].reshape(layout.DETAIL_ROWS, layout.PARTS, -1)
    windows.detail_step[at] = rows.step[at]
    for row, names in enumerate(layout.DETAIL):
        for part, name in enumerate(names):
            if name is not None:
                getattr(windows, name)[at, place.of(replica)] = _known(body[row, part])
    return True


def summed_up(replicas: Sequence[layout.Floats], place: Place) -> Windows:
    """The one window that the summary rows of each replica describe (`layout.SUMMARY`)."""
    windows = Windows.blank(1, place.rows)
    heads = [layout.split_rows(table[:2]) for table in replicas]
    first = min(int(head.step[1]) for head in heads)
    windows.first_step[:] = first
    windows.last_step[:] = max(int(head.step[0]) for head in heads)
    windows.steps[:] = max(int(head.seq[0] - head.seq[1]) + 1 for head in heads)
    for replica, (table, head) in enumerate(zip(replicas, heads, strict=True)):
        columns = _summary_columns(table)
        _fill_summary(windows, columns, place.of(replica), int(head.step[1]), place.empty)
    last = [head.scalars for head in heads]
    windows.loss[:] = _mean_of([_loss_of(scalars)[:1] for scalars in last])
    windows.loss_scale[:] = _known(last[0]["loss_scale"][:1])
    windows.learning_rate[:] = _known(last[0]["learning_rate"][:1])
    slots = {name: index for index, name in enumerate(layout.SCALARS)}
    for name, (row, slot) in layout.SUMMARY_SCALARS.items():
        value = max(float(table[row, slots[slot]]) for table in replicas)
        getattr(windows, name)[:] = np.nan if value <= -LARGEST else value
    state = windows.state_last[0]
    windows.global_norm[:] = _global_norm(
        windows.norm_last[0].reshape(place.replicas, -1), state.reshape(place.replicas, -1)
    ).max()
    return windows


_COUNTED = {
    "none_steps": State.NONE,
    "zero_steps": State.ZERO,
    "nan_steps": State.NAN,
    "inf_steps": State.INF,
}


def _norms_and_states(rows: layout.Rows, empty: Array) -> tuple[Array, Array]:
    state = np.full(rows.norm.shape, State.FINITE, np.uint8)
    state[(rows.norm == 0) & ~empty] = State.ZERO
    state[rows.norm == NO_GRADIENT] = State.NONE
    state[rows.infs > 0] = State.INF
    state[rows.nans > 0] = State.NAN
    return np.where(state >= State.NONE, np.float32(np.nan), rows.norm), state


def _global_norm(norms: Array, state: Array) -> Array:
    """Over the last axis, in float64: NaN where any gradient held a NaN, else +inf where any held an Inf."""
    squares = np.square(np.where(np.isnan(norms), 0, norms).astype(np.float64))
    total = np.sqrt(squares.sum(-1))
    total = np.where((state == State.INF).any(-1), np.inf, total)
    total = np.where((state == State.NAN).any(-1), np.nan, total)
    return np.asarray(total)


def global_norms(rows: layout.Rows) -> Array:
    """Of each step: float64 ``[steps]``, see `_global_norm`."""
    return _global_norm(*_norms_and_states(rows, np.zeros(rows.norm.shape[1], bool)))


def ill_steps(rows: layout.Rows, expected_none: Array) -> Array:
    """Sequence numbers of steps at which a gradient was NaN or Inf, unless handled, or missing, unless expected."""
    bad = ((rows.nans + rows.infs) > 0).any(axis=1) & ~(rows.scalars["handled"] > 0)
    missing = ((rows.norm == NO_GRADIENT) & ~expected_none).any(axis=1)
    ill: Array = rows.seq[bad | missing]
    return ill


def _known(values: Array) -> Array:
    """Numbers that are never negative; on the device a negative one stands for an unknown."""
    return np.where(values < 0, np.float32(np.nan), values)


def _loss_of(scalars: dict[str, layout.Floats]) -> Array:
    return np.where(scalars["loss_known"] > 0, scalars["loss"], np.float32(np.nan))


def _mean_of(values: Sequence[Array]) -> Array:
    return np.asarray(np.mean(np.asarray(values, np.float64), axis=0))


def _fill_scalars(windows: Windows, replicas: Sequence[layout.Rows], global_norm: Array, clipped: Array) -> None:
    scalars = {name: np.stack([rows.scalars[name] for rows in replicas]) for name in layout.SCALARS}
    loss = _mean_of([_loss_of(rows.scalars) for rows in replicas])
    windows.loss[:] = loss
    windows.loss_max[:] = np.where(np.isfinite(loss), loss, np.nan)
    windows.loss_nonfinite_steps[:] = (scalars["loss_known"][0] > 0) & ~np.isfinite(loss)
    windows.global_norm[:] = global_norm
    windows.global_norm_max[:] = np.where(np.isfinite(global_norm), global_norm, np.nan)
    windows.loss_scale[:] = _known(scalars["loss_scale"][0])
    windows.learning_rate[:] = _known(scalars["learning_rate"][0])
    windows.overflow_steps[:] = scalars["handled"].max(0) > 0
    windows.skipped_steps[:] = scalars["skipped"].max(0) > 0
    windows.clipped_steps[:] = clipped


def _summary_columns(table: layout.Floats) -> dict[str, Array]:
    body = table[:, len(layout.SCALARS) :].reshape(layout.SUMMARY_ROWS, layout.PARTS, -1)
    return {name: body[row, part] for row, names in enumerate(layout.SUMMARY) for part, name in enumerate(names)}


def _fill_summary(windows: Windows, columns: dict[str, Array], at: Array, first: int, empty: Array) -> None:
    counts = columns["finite_steps"]
    ever = counts > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(ever, columns["norm_sum"] / counts, np.nan)
    windows.norm_last[0, at] = _known(columns["norm_last"])
    windows.norm_min[0, at] = np.where(ever, columns["norm_min"], np.nan)
    windows.norm_max[0, at] = np.where(ever, columns["norm_max"], np.nan)
    windows.norm_mean[0, at] = mean
    windows.norm_max_step[0, at] = first + columns["norm_max_offset"].astype(np.int64)
    bad = columns["first_bad_offset"].astype(np.int64)
    windows.first_bad_step[0, at] = np.where(bad < 0, -1, first + bad)
    for name in (*_COUNTED, "handled_steps", "nan_elements", "inf_elements"):
        getattr(windows, name)[0, at] = columns[name]
    state = columns["state_last"].astype(np.uint8)
    windows.state_last[0, at] = np.where(empty & (state == State.ZERO), State.FINITE, state)
    windows.zero_steps[0, at] = np.where(empty, 0, columns["zero_steps"])


def all_none_step(place: Place, step: int) -> Windows:
    """A step at which none of the variables got a gradient."""
    windows = Windows.blank(1, place.rows)
    windows.first_step[:] = windows.last_step[:] = windows.norm_max_step[:] = step
    windows.steps[:] = 1
    for replica in range(place.replicas):
        windows.state_last[0, place.of(replica)] = State.NONE
        windows.none_steps[0, place.of(replica)] = 1
    return windows
