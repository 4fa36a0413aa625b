"""Births in the forward pass: each rule looks at the numbers that went in and says what they did."""

import math
from collections.abc import Callable

import numpy as np

from tb_gradhealth.explain.nonfinite import words
from tb_gradhealth.explain.nonfinite.facts import Facts, largest_finite
from tb_gradhealth.explain.nonfinite.growth import is_overflow
from tb_gradhealth.explain.nonfinite.reasons import Reason, Rule
from tb_gradhealth.explain.nonfinite.scene import Scene

RULES: dict[str, tuple[Rule, ...]] = {}
"""Type of the operation → its rules, the first that answers counts; ``""`` for any operation."""


def rule(*kinds: str) -> Callable[[Rule], Rule]:
    """Registers a rule for these types of operations."""

    def register(function: Rule) -> Rule:
        for kind in kinds:
            RULES[kind] = (*RULES.get(kind, ()), function)
        return function

    return register


@rule("Log", "Log1p")
def _logarithm(scene: Scene) -> Reason | None:
    x = scene.numbers[0]
    shift = scene.origin.op == "Log1p"
    fix = (
        "Keep its argument above 0: tf.math.log(tf.maximum(x, 1e-7)) or log(x + 1e-7); for probabilities work on "
        "logits instead (from_logits=True, tf.nn.log_softmax, tf.math.log_sigmoid)."
    )
    if scene.output.nan and (x.negatives or shift):
        below = "below -1" if shift else "negative"
        evidence = (words.of(scene.output.nan, x.size, below), words.extent(x))
        return Reason(
            "log_of_negative",
            f"the logarithm of a number {below} is NaN".replace("number negative", "negative number"),
            fix,
            evidence,
        )
    at = "-1" if shift else "0"
    if shift or x.zeros:
        count = scene.output.minus_inf if shift else x.zeros
        name = "log(1 + x) at -1" if shift else "the logarithm of 0"
        return Reason(
            "log_of_zero", f"{name} is -Inf", fix, (words.of(count, x.size, f"exactly {at}"), words.extent(x))
        )
    return None


@rule("RealDiv", "Div", "Xdivy", "FloorDiv", "TruncateDiv", "FloorMod", "Mod")
def _division(scene: Scene) -> Reason | None:
    if scene.within_file("ops/clip_ops.py"):
        return None
    x, y = scene.numbers[0], scene.numbers[-1]
    if len(scene.numbers) < 2:
        return None
    if y.zeros:
        both = scene.output.nan and x.zeros
        text = "0 / 0 is NaN: the divisor is 0" if both else "division by 0"
        evidence = (words.of(y.zeros, y.size, "exactly 0", "divisors"), words.made(scene.output))
        if scene.within("reduce_mean", "normalize", "l2_normalize"):
            text += " (inside " + scene.functions[-1] + ")"
        return Reason(
            "division_by_zero",
            text,
            "Keep the divisor away from 0 before dividing: x / tf.maximum(y, 1e-7), x / (y + 1e-7), or "
            "tf.math.divide_no_nan(x, y); if a count is meant, at least 1: tf.maximum(count, 1.0).",
            evidence,
        )
    if scene.output.inf and y.least < 1:
        evidence = (f"smallest divisor {words.number(y.least)}", f"largest dividend {words.number(x.largest)}")
        return Reason(
            "division_by_almost_zero",
            f"the quotient exceeds the largest {scene.output.dtype}: the divisor is almost 0",
            "Bound the divisor from below: x / tf.maximum(y, 1e-6).",
            evidence,
        )
    return None


@rule("Reciprocal", "Inv", "Rsqrt", "DivNoNan")
def _reciprocal(scene: Scene) -> Reason | None:
    x = scene.numbers[-1]
    root = scene.origin.op == "Rsqrt"
    if root and x.negatives and scene.output.nan:
        evidence = (words.of(x.negatives, x.size, "negative"), words.extent(x))
        return Reason("root_of_negative", "1 / sqrt of a negative number is NaN", _ROOT_FIX, evidence)
    if x.zeros:
        name = "1 / sqrt(0)" if root else "1 / 0"
        fix = "Add a small epsilon before it: tf.math.rsqrt(x + 1e-6)." if root else "Use 1 / tf.maximum(x, 1e-7)."
        if scene.within_file(
            "layers/normalization/batch_normalization.py", "layers/normalization/layer_normalization.py"
        ):
            fix = "Give the normalisation layer an epsilon above 0 (the default 1e-3): its variance is 0 here."
        return Reason("division_by_zero", f"{name} is Inf", fix, (words.of(x.zeros, x.size, "exactly 0"),))
    return None


_ROOT_FIX = (
    "Keep the number under the root from falling below 0: tf.sqrt(tf.maximum(x, 1e-7)). A variance computed as "
    "E[x²] - E[x]² may come out slightly negative: use tf.math.reduce_variance."
)


@rule("Sqrt")
def _root(scene: Scene) -> Reason | None:
    x = scene.numbers[0]
    if not x.negatives:
        return None
    evidence = (words.of(x.negatives, x.size, "negative"), words.extent(x))
    return Reason("root_of_negative", "the square root of a negative number is NaN", _ROOT_FIX, evidence)


@rule("Pow")
def _power(scene: Scene) -> Reason | None:
    base, exponent = scene.numbers[0], scene.numbers[-1]
    exponents = f"exponents from {words.number(exponent.low)} to {words.number(exponent.high)}"
    if scene.output.nan and base.negatives:
        return Reason(
            "power_of_negative",
            "a negative number to a broken power is NaN",
            "Keep the base positive: tf.pow(tf.maximum(x, 1e-7), p), or use tf.sign(x) * tf.pow(tf.abs(x), p).",
            (words.of(base.negatives, base.size, "negative", "bases"), exponents),
        )
    if base.zeros and exponent.negatives:
        return Reason(
            "division_by_zero",
            "0 to a negative power is Inf",
            "Keep the base away from 0: tf.pow(tf.maximum(x, 1e-7), p).",
            (words.of(base.zeros, base.size, "exactly 0", "bases"), exponents),
        )
    return None


@rule("Exp", "Expm1", "Sinh", "Cosh")
def _exponential(scene: Scene) -> Reason | None:
    x = scene.numbers[0]
    dtype = scene.output.dtype
    limit = math.log(largest_finite(dtype))
    name = scene.origin.op.lower()
    return Reason(
        "exp_overflow",
        f"the result of {name}(x) exceeds the largest {dtype} for x above {limit:.1f}",
        "Do not take exp of an unbounded number: tf.nn.softplus(x) for log(1 + exp(x)), tf.reduce_logsumexp, "
        "tf.nn.softmax or tf.nn.log_softmax for their formulas written by hand (or subtract the maximum first), "
        "tf.sigmoid for 1 / (1 + exp(-x)); else bound it: tf.exp(tf.minimum(x, 20.0)). In a recurrence or as an "
        "activation use a bounded one such as tanh.",
        (f"largest input {words.number(x.high)}", words.made(scene.output)),
    )


@rule("Softmax", "LogSoftmax", "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
def _softmax(scene: Scene) -> Reason | None:
    logits = scene.numbers[0]
    if logits.minus_inf:
        rows = _rows_of_minus_inf(scene)
        evidence = (rows,) if rows else ()
        return Reason(
            "softmax_of_masked_row",
            "softmax over a row in which every entry is -Inf is 0 / 0 = NaN",
            "Mask with a large finite number such as -1e9 instead of -inf, or leave at least one entry of every row "
            "unmasked; masking the output afterwards hides the NaN from the loss but not from the gradient.",
            (*evidence, f"{logits.minus_inf} of {logits.size} logits were -Inf"),
        )
    if scene.origin.op.startswith("Sparse") and len(scene.inputs) > 1:
        labels = scene.inputs[1]
        classes = logits.shape[-1] if logits.shape else 0
        return Reason(
            "label_out_of_range",
            f"a label lies outside of 0 … {classes - 1}, so its loss is NaN",
            "Check the labels: they must be whole numbers from 0 to the number of classes less 1; mask padding out, or "
            "use ignore_class.",
            (f"labels from {words.number(labels.low)} to {words.number(labels.high)}, {classes} classes",),
        )
    return None


def _rows_of_minus_inf(scene: Scene) -> str:
    tensor = scene.node.inputs[0].tensor
    if tensor is None:
        return ""
    array = np.asarray(tensor.numpy(), np.float32)
    if not array.ndim:
        return ""
    rows = np.isneginf(array).all(axis=-1)
    return words.of(int(rows.sum()), int(rows.size), "-Inf throughout", "rows")


@rule("Mean", "Max", "Min", "SegmentMean", "UnsortedSegmentMax", "Prod")
def _reduction_of_nothing(scene: Scene) -> Reason | None:
    x = scene.inputs[0]
    if not x.numeric or x.size:
        return None
    op = scene.origin.op
    result = "0 / 0 = NaN" if op == "Mean" else "infinite"
    return Reason(
        "mean_of_nothing",
        f"the {op.lower()} of no elements is {result}",
        "Do not let an empty batch, or an empty selection, come here: batch(..., drop_remainder=True), as many rows "
        "for every replica, or tf.math.divide_no_nan(tf.reduce_sum(x), count).",
        (f"its input has the shape {list(x.shape)}",),
    )


@rule("Acos", "Asin", "Acosh", "Atanh", "Erfinv", "Ndtri")
def _outside_domain(scene: Scene) -> Reason | None:
    x = scene.numbers[0]
    domain = {"Acosh": "[1, ∞)", "Ndtri": "(0, 1)"}.get(scene.origin.op, "[-1, 1]")
    name = scene.origin.op.lower()
    bounds = {"Acosh": "1.0 + 1e-6, 1e6", "Ndtri": "1e-6, 1 - 1e-6"}.get(scene.origin.op, "-1 + 1e-6, 1 - 1e-6")
    return Reason(
        "outside_domain",
        f"{name} is not finite outside of {domain} or at its ends",
        f"Clip its argument: tf.math.{name}(tf.clip_by_value(x, {bounds})). Rounding may push a cosine past 1.",
        (words.extent(x), words.made(scene.output)),
    )


@rule("Lgamma", "Digamma", "Polygamma", "Zeta", "Betainc", "Igamma", "Igammac")
def _poles(scene: Scene) -> Reason | None:
    return Reason(
        "pole",
        f"{scene.origin.op} has poles at 0 and the negative whole numbers",
        "Keep its argument positive: tf.maximum(x, 1e-6), or tf.nn.softplus(x) + 1e-6 for a parameter.",
        tuple(words.extent(facts) for facts in scene.numbers[:2]),
    )


@rule("Cast")
def _narrowing(scene: Scene) -> Reason | None:
    x = scene.numbers[0]
    dtype = scene.output.dtype
    return Reason(
        "cast_overflow",
        f"the value is too large for {dtype}, whose largest number is {words.number(largest_finite(dtype))}",
        "Keep this part in float32, scale the values down before the cast, or use bfloat16; with a fixed loss scale "
        "use keras.optimizers.LossScaleOptimizer, which lowers it by itself.",
        (f"largest value {words.number(x.largest)}", words.made(scene.output)),
    )


@rule("L2Loss", "Square", "Sum", "Mul", "AddN", "RealDiv", "Sqrt", "Minimum")
def _clipping(scene: Scene) -> Reason | None:
    if not scene.within_file("ops/clip_ops.py"):
        return None
    largest = max((facts.largest for facts in scene.numbers), default=0.0)
    return Reason(
        "clip_norm_overflow",
        "the gradients are finite but so large that their squares overflow: the norm is Inf, and clipping by it turns "
        "every gradient into NaN",
        "Make the gradients smaller at their source: scale the input data and the loss (divide raw counts by their "
        "standard deviation); as a stopgap clip each gradient by value first.",
        (f"largest |gradient| {words.number(largest)}; the square is over {words.number(largest_finite('float32'))}",),
    )


@rule("CTCLoss", "CTCLossV2", "CudnnCTCLoss")
def _ctc(scene: Scene) -> Reason | None:
    return ctc_reason()


def ctc_reason() -> Reason:
    """The reason where CTC has no path to a label."""
    return Reason(
        "ctc_label_too_long",
        "CTC has no path from this input to its label: the label needs more frames than there are (one for each "
        "symbol, and a blank between equal neighbours), so its probability is 0 and its loss Inf",
        "Give such samples more frames (less striding), shorten or leave out their labels, and check label_length + "
        "repeats ≤ logit_length.",
    )


@rule(
    "Svd", "SelfAdjointEigV2", "Eig", "Cholesky", "MatrixInverse", "MatrixSolve", "MatrixTriangularSolve",
    "MatrixSolveLs", "LogMatrixDeterminant", "MatrixDeterminant", "MatrixLogarithm", "MatrixSquareRoot", "Qr",
)  # fmt: skip
def _singular(scene: Scene) -> Reason | None:
    return Reason(
        "singular_matrix",
        f"{scene.origin.op} of a matrix that is singular or nearly so",
        "Add a small multiple of the identity before it: a + 1e-4 * tf.eye(n).",
        tuple(words.extent(facts) for facts in scene.numbers[:1]),
        "likely",
    )


@rule("PyFunc", "EagerPyFunc", "PyFuncStateless")
def _python_code(scene: Scene) -> Reason | None:
    return Reason(
        "python_code",
        "Python code called through tf.py_function or tf.numpy_function returned it",
        "Look inside that function: np.seterr(all='raise') makes NumPy stop at the line.",
        (words.made(scene.output),),
    )


@rule("Sub", "AddV2", "Add", "AddN", "Sum", "BiasAdd")
def _opposite_infinities(scene: Scene) -> Reason | None:
    if not any(facts.inf for facts in scene.numbers):
        return None
    return Reason(
        "infinity_minus_infinity",
        "infinities of a mask cancel: Inf - Inf is NaN",
        "Mask with a large finite number such as -1e9 instead of -inf.",
        _infinities(scene),
    )


@rule("")
def _zero_times_infinity(scene: Scene) -> Reason | None:
    if not scene.output.nan or not any(facts.inf for facts in scene.numbers):
        return None
    return Reason(
        "zero_times_infinity",
        "an infinity that was written down on purpose (a mask) meets a 0 here: 0 × Inf is NaN",
        "Mask with tf.where, or with a large finite number such as -1e9 instead of -inf.",
        _infinities(scene),
    )


@rule("")
def _overflow(scene: Scene) -> Reason | None:
    if not is_overflow(scene.node):
        return None
    return overflow_reason(scene)


def overflow_reason(scene: Scene) -> Reason:
    """The reason where finite values left the range of their type at once."""
    largest = max((facts.largest for facts in scene.numbers), default=0.0)
    dtype = scene.output.dtype
    half = dtype == "float16"
    fix = "Scale the values down before they come here (normalise the inputs, a smaller learning rate or initialiser)."
    if half:
        fix += " Or compute this part in float32: float16 ends at 65504."
    return Reason(
        "overflow",
        f"{scene.origin.op} exceeds the largest {dtype}, {words.number(largest_finite(dtype))}",
        fix,
        (f"largest input {words.number(largest)}", words.made(scene.output)),
    )


def _infinities(scene: Scene) -> tuple[str, ...]:
    return tuple(_inf_words(facts) for facts in scene.numbers if facts.inf)


def _inf_words(facts: Facts) -> str:
    return words.of(facts.inf, facts.size, "infinite")
