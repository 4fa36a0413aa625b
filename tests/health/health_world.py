"""The smallest worlds for the rules: runs written as lists of norms."""

import numpy as np

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.log import GroupLog, RunLog
from tb_gradhealth.format.states import State
from tb_gradhealth.format.windows import Windows

NAN, INF = float("nan"), float("inf")


def schema_of(variables=2, *, replicas=1, **fields):
    """`variables`: a number, or a list of dicts of fields of `pb.Variable`."""
    listed = [{} for _ in range(variables)] if isinstance(variables, int) else variables
    schema = pb.Schema(format_version=1, group="adam", generation=1, replicas=replicas, **fields)
    for index, given in enumerate(listed):
        full = {
            "name": f"layer{index}/kernel",
            "layer": f"layer{index}",
            "shape": [3, 4],
            "dtype": "float32",
            "size": 12,
        }
        schema.variables.append(pb.Variable(**{**full, **given}))
    return schema


def steps_of(norms, *, first=0, handled=False, **scalars):
    """Single-step windows. `norms`: ``[steps][rows]`` of numbers, 0, NAN, INF, None, or ``"-"``: not recorded."""
    norms = [list(row) for row in norms]
    w = Windows.blank(len(norms), len(norms[0]))
    w.first_step[:] = w.last_step[:] = first + np.arange(len(norms))
    w.steps[:] = 1
    w.norm_max_step[:] = w.first_step[:, None]
    for t, row in enumerate(norms):
        for r, norm in enumerate(row):
            _cell(w, t, r, norm, handled)
    for name, values in scalars.items():
        getattr(w, name)[:] = values
    return w


def _cell(w, t, r, norm, handled):
    if norm == "-":
        return
    if norm is None:
        w.state_last[t, r], w.none_steps[t, r] = State.NONE, 1
    elif np.isnan(norm) or np.isinf(norm):
        nan = np.isnan(norm)
        w.state_last[t, r] = State.NAN if nan else State.INF
        (w.nan_steps if nan else w.inf_steps)[t, r] = 1
        (w.nan_elements if nan else w.inf_elements)[t, r] = 1
        w.first_bad_step[t, r] = w.first_step[t]
        w.handled_steps[t, r] = handled
    else:
        w.state_last[t, r] = State.ZERO if norm == 0 else State.FINITE
        w.zero_steps[t, r] = norm == 0
        for name in ("norm_last", "norm_min", "norm_max", "norm_mean"):
            getattr(w, name)[t, r] = norm


def run_of(windows, schema=None, **fields):
    schema = schema or schema_of(windows.row_count)
    return RunLog({"adam": GroupLog(schema, [schema], windows, windows.select(slice(0)))}, **fields)


def widened(windows, width):
    return windows.merged(np.arange(0, len(windows), width))
