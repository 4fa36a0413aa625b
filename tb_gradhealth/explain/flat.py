"""Edges whose derivative is zero by the values at hand: dead and saturated activations, clips, factors of zeros.

Promises: closes an edge only if the derivative is zero for every element; "certain" only where that was seen.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tb_gradhealth.explain.program import Op, Program

ALWAYS = {"Sign": "zero_derivative"}
"""Operations whose derivative is registered as zeros."""

CANDIDATES = {
    "EagerPyFunc": (0, "py_function_numpy"), "CTCLoss": (1, "ctc_too_short"), "CTCLossV2": (1, "ctc_too_short"),
    "Cumprod": (2, "cumprod_zero"), "FakeQuantWithMinMaxArgs": (3, "clipped"),
    "FakeQuantWithMinMaxVars": (3, "clipped"),
    "Relu": (4, "dead_activation"), "Relu6": (4, "dead_activation"), "ClipByValue": (3, "clipped"),
    "Sigmoid": (5, "saturated_activation"), "Tanh": (5, "saturated_activation"), "Softmax": (6, "saturated_activation"),
    "Minimum": (7, "clipped"), "Maximum": (8, "clipped"),
}  # fmt: skip
"""Type → (how soon to suspect it, the reason) where no values are known."""

_PRODUCTS = frozenset({"MatMul", "BatchMatMulV2", "BatchMatMulV3", "Mul", "Conv2D", "Einsum", "MulNoNan"})


@dataclasses.dataclass(frozen=True)
class Closed:
    """Attributes:
    reason: id.
    certain: seen in the values, not supposed.
    what, evidence: numbers for the reader.
    weights: value of the factor that is zero, where it is a variable's.
    because: the dead activation that made the factor zero.
    """

    reason: str
    certain: bool = True
    what: str = ""
    evidence: tuple[str, ...] = ()
    weights: int | None = None
    because: Op | None = None


def closed_by_values(
    program: Program, behind: Sequence[bool], zero_leaves: Mapping[int, bool] | None = None
) -> dict[tuple[int, int], Closed]:
    """(operation, input) → why its derivative is zero, for the operations that the loss depends on.

    Args:
      program: laid out.
      behind: value → whether the loss depends on it.
      zero_leaves: leaves of variables that hold nothing but zeros → whether that was seen (they may only start so).
    """
    found: dict[tuple[int, int], Closed] = {}
    for op in program.ops:
        if not any(behind[value] for value in op.outputs):
            continue
        for position, closed in _of(program, op, zero_leaves or {}).items():
            found[op.index, position] = closed
    return found


def _of(program: Program, op: Op, zero_leaves: Mapping[int, bool]) -> dict[int, Closed]:
    kind = op.type
    if kind in ALWAYS:
        return {0: Closed(ALWAYS[kind])}
    if kind in ("Softmax", "LogSoftmax") and _last_dimension(program, op) == 1:
        return {0: Closed("softmax_one_unit")}
    if kind in ("Relu", "Relu6", "Elu", "Selu"):
        return _relu(program, op) if kind.startswith("Relu") else {}
    if kind in ("Sigmoid", "Tanh"):
        return _saturated(program, op)
    if kind in ("Minimum", "Maximum"):
        return _clip(program, op)
    if kind in ("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars"):
        return _quantised(program, op)
    if kind == "Cumprod":
        x = _values(program, op.inputs[0])
        return {} if x is None or x.all() else {0: Closed("cumprod_zero", what=f" ({_share(x == 0)})")}
    if kind in ("CTCLoss", "CTCLossV2"):
        loss = _values(program, op.outputs[0])
        return (
            {}
            if loss is None or loss.any()
            else {0: Closed("ctc_too_short", evidence=("The loss of CTC is exactly 0.",))}
        )
    if kind == "EagerPyFunc":
        return {position: Closed("py_function_numpy", certain=False) for position in range(len(op.inputs))}
    if kind in ("Select", "SelectV2"):
        return _select(program, op)
    if kind in _PRODUCTS and len(op.inputs) == 2:
        return _product(program, op, zero_leaves)
    return {}


def _relu(program: Program, op: Op) -> dict[int, Closed]:
    x = _values(program, op.inputs[0])
    if x is None or not x.size:
        return {}
    if (x <= 0).all():
        return {0: Closed("dead_activation", what=f" (the largest of {x.size} is {_number(x.max())})")}
    if op.type == "Relu6" and ((x <= 0) | (x >= 6)).all():
        return {0: Closed("saturated_activation", what=f" ({x.size} inputs, none between 0 and 6)")}
    return {}


def _saturated(program: Program, op: Op) -> dict[int, Closed]:
    y = _values(program, op.outputs[0])
    if y is None or not y.size:
        return {}
    flat = (y * (1 - y) == 0) if op.type == "Sigmoid" else (1 - y * y == 0)
    if not flat.all():
        return {}
    x = _values(program, op.inputs[0])
    span = f", its inputs go from {_number(x.min())} to {_number(x.max())}" if x is not None else ""
    return {0: Closed("saturated_activation", what=f" (all {y.size} outputs are exactly at a limit{span})")}


def _clip(program: Program, op: Op) -> dict[int, Closed]:
    a, b = (_values(program, value) for value in op.inputs)
    if a is None or b is None:
        return {}
    wins = (a <= b) if op.type == "Minimum" else (a >= b)
    found = {}
    for position, gone in ((0, not wins.any()), (1, bool(wins.all()))):
        other = b if position == 0 else a
        if gone:
            limit = f" (the limit is {_number(other.flat[0])})" if other.size == 1 else ""
            reason = "clipped" if other.size == 1 else "not_chosen"
            found[position] = Closed(reason, what=limit)
    return found


def _quantised(program: Program, op: Op) -> dict[int, Closed]:
    x, y = _values(program, op.inputs[0]), _values(program, op.outputs[0])
    if x is None or y is None or not x.size:
        return {}
    beyond = ((x > y.max()) | (x < y.min())).all()
    return {0: Closed("clipped", what=f" (values from {_number(x.min())} to {_number(x.max())})")} if beyond else {}


def _select(program: Program, op: Op) -> dict[int, Closed]:
    chosen = _values(program, op.inputs[0])
    if chosen is None or not chosen.size:
        return {}
    if chosen.all():
        return {2: Closed("masked")}
    return {1: Closed("masked")} if not chosen.any() else {}


def _product(program: Program, op: Op, zero_leaves: Mapping[int, bool]) -> dict[int, Closed]:
    found = {}
    for position, other in ((0, 1), (1, 0)):
        factor = _values(program, op.inputs[other])
        leaf = _variable_of(program, op.inputs[other])
        if factor is None and leaf is not None and leaf in zero_leaves:
            found[position] = Closed("zero_weights", certain=zero_leaves[leaf], weights=leaf)
            continue
        if factor is None or not factor.size or factor.any():
            continue
        weights = leaf
        dead = _dead_maker(program, op.inputs[other]) if weights is None else None
        what = f" ({factor.size} zeros)"
        reason = "zero_weights" if weights is not None else "zero_factor"
        if dead is not None:
            what = f" ({factor.size} outputs, all 0)"
        found[position] = Closed(reason, what=what, weights=weights, because=dead)
    return found


def _variable_of(program: Program, value: int) -> int | None:
    """The leaf of the variable that a value is read from, through reshapes and casts."""
    for _ in range(4):
        makers = program.makers[value]
        if not makers:
            return None
        op = program.ops[makers[0]]
        if op.type == "Read":
            return op.inputs[0]
        if op.type not in ("Identity", "Cast", "Reshape", "Transpose", "ExpandDims"):
            return None
        value = op.inputs[0]
    return None


def _dead_maker(program: Program, value: int) -> Op | None:
    """The dead activation that made a value of zeros, through shape changes."""
    for _ in range(6):
        makers = program.makers[value]
        if not makers:
            return None
        op = program.ops[makers[0]]
        if op.type in ("Relu", "Relu6"):
            return op
        if op.type not in ("Identity", "Cast", "Reshape", "Transpose", "ExpandDims", "Mean", "MaxPool", "AvgPool"):
            return None
        value = op.inputs[0]
    return None


def _last_dimension(program: Program, op: Op) -> int | None:
    for value in (*op.inputs[:1], *op.outputs):
        shape = getattr(program.tensors[value], "shape", None)
        if shape is not None and shape.rank:
            return None if shape[-1] is None else int(shape[-1])
    return None


def _values(program: Program, value: int) -> Any:
    """The values of an eager tensor that was kept, or of a literal; None if they are not known."""
    tensor = program.tensors[value]
    if tensor is None:
        return None
    try:
        if hasattr(tensor, "_numpy"):
            array = np.asarray(tensor)
        else:
            import tensorflow as tf

            array = tf.get_static_value(tensor)
        if array is None:
            return None
        array = np.asarray(array)
        return (
            array.astype(np.float32)
            if array.dtype.kind in "fV" and array.dtype.itemsize == 2 and array.dtype.kind == "V"
            else array
        )
    except Exception:
        return None


def _share(mask: Any) -> str:
    return f"{int(mask.sum())} of {mask.size} entries are 0"


def _number(value: Any) -> str:
    return f"{float(value):.4g}"
