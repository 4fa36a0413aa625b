"""Causes that did not arise in the step: data that already held NaN, weights that already were NaN, a literal."""

import dataclasses
from typing import Any

import numpy as np

from tb_gradhealth.explain import source
from tb_gradhealth.explain.nonfinite import words
from tb_gradhealth.explain.nonfinite.data_lines import maker_of_bad_data, sought
from tb_gradhealth.explain.nonfinite.origins import Origins
from tb_gradhealth.explain.nonfinite.trace import CONSTANT, VARIABLE, Value
from tb_gradhealth.explain.nonfinite.walk import Birth
from tb_gradhealth.explain.nonfinite.written import Written
from tb_gradhealth.explain.syntax import parse
from tb_gradhealth.format.causes import Cause


def cause(base: Cause, birth: Birth, written: Written, origin: Origins, started: source.Stack = ()) -> Cause:
    """The cause for a birth without an operation: the value came in bad.

    Args:
      started: where the step was started, for where the operations do not tell (in the threads of replicas).
    """
    if birth.value.origin == VARIABLE:
        return _weights(base, birth.value, written)
    use = _use(birth, origin)
    if birth.value.origin == CONSTANT:
        return _literal(base, birth, use)
    stack = (*started, *(origin(birth.route[0]).stack if birth.route else ()))
    return _data(base, birth.value, use, stack)


def _data(base: Cause, value: Value, use: source.Place | None, stack: source.Stack) -> Cause:
    what = "NaN" if value.facts.nan else "Inf"
    made = sought(maker_of_bad_data, use, stack, argument_of(value.label))
    place = made or use
    name = f" {value.label!r}" if value.label else ""
    evidence = [*where_bad(value.tensor, value.label), *_used(use, made)]
    code = made.code if made else ""
    fix = "Clean the data before training: drop or fill such rows (np.isfinite, dataset.filter)."
    if "/" in code:
        fix = (
            "A division made it: add a small epsilon to the divisor, as in / (x.std(0) + 1e-6), or leave out columns "
            "that never vary; else drop or fill such rows before training (np.isfinite, dataset.filter)."
        )
    elif "log" in code or "sqrt" in code:
        fix = f"Bound the argument on that line (np.maximum(x, 1e-7)), or {fix[0].lower()}{fix[1:]}"
    return _filled(
        base,
        place,
        reason_id="bad_input",
        reason=f"the batch{name} already holds {what} when it enters the step",
        op="input",
        fix=fix,
        certainty="likely" if made or use is None else "certain",
        evidence=tuple(evidence),
        phase="forward",
    )


def _weights(base: Cause, value: Value, written: Written) -> Cause:
    what = "NaN" if value.facts.nan else "Inf"
    name = value.label or "a variable"
    first = base.step <= 0
    place = written.initial_value(value.label) if value.label and first else None
    return _filled(
        base,
        place,
        reason_id="bad_weights",
        reason=f"the weights were already {what} before this step ({name})",
        op="variable",
        fix="Look at the first bad step: its update made them so. on_nonfinite='stop' keeps the last good weights.",
        certainty="certain",
        evidence=(str(value.facts),),
        phase="forward",
    )


def _literal(base: Cause, birth: Birth, use: source.Place | None) -> Cause:
    what = "NaN" if birth.value.facts.nan else "Inf"
    return _filled(
        base,
        use,
        reason_id="literal",
        reason=f"the program itself writes {what} down here",
        op="Const",
        fix="Replace the literal by a finite number; for a mask use -1e9 instead of -inf.",
        certainty="certain",
        evidence=(str(birth.value.facts),),
        phase="forward",
    )


def _filled(base: Cause, place: source.Place | None, **fields: Any) -> Cause:
    if place is not None:
        fields |= {"file": place.file, "line": place.line, "code": place.code}
    return dataclasses.replace(base, **fields)


def _use(birth: Birth, origin: Origins) -> source.Place | None:
    """The user's line at which the value is first taken."""
    for node in birth.route:
        place = origin(node).place
        if place is not None and parse(place.file) is not None:
            return place
    return None


def _used(use: source.Place | None, made: source.Place | None) -> list[str]:
    if use is None or made is None or use == made:
        return []
    return [f"it enters the step in {source.shown(use.file)}:{use.line}: {use.code}"]


def argument_of(label: str) -> int | None:
    """Which argument of `fit` a batch's part is."""
    return {"x": 0, "y": 1, "sample_weight": 2}.get(label.split("[", maxsplit=1)[0])


def where_bad(tensor: Any, label: str = "") -> list[str]:
    """Rows and columns of a batch that hold NaN or Inf."""
    try:
        array = np.asarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor, np.float64)
    except (AttributeError, TypeError, ValueError):
        return []
    bad = ~np.isfinite(array)
    if not bad.any():
        return []
    name = label or "the batch"
    found = [f"{name}: {int(bad.sum())} of {bad.size} values are not finite"]
    if array.ndim >= 2:
        columns = np.flatnonzero(bad.reshape(-1, array.shape[-1]).any(axis=0))
        if len(columns) < array.shape[-1]:
            found.append(f"column {_numbers(columns)} of {array.shape[-1]} (counted from 0)")
    if array.ndim >= 1:
        rows = np.flatnonzero(bad.reshape(array.shape[0], -1).any(axis=1))
        if len(rows) < array.shape[0]:
            found.append(f"row {_numbers(rows)} of {array.shape[0]} (counted from 0)")
        elif array.ndim >= 2:
            found.append(f"every one of {array.shape[0]} rows")
    return found


def _numbers(indices: Any) -> str:
    return words.listing(tuple(str(index) for index in indices), 8)
