"""Births in a derivative: the forward pass may be finite, and yet the slope at that point is not."""

from collections.abc import Callable

from tb_gradhealth.explain.nonfinite import words
from tb_gradhealth.explain.nonfinite.facts import Facts, largest_finite
from tb_gradhealth.explain.nonfinite.growth import is_overflow
from tb_gradhealth.explain.nonfinite.reasons import Reason, Rule
from tb_gradhealth.explain.nonfinite.scene import Scene

RULES: dict[str, tuple[Rule, ...]] = {}
"""Type of the forward operation → its rules; ``""`` for any operation."""


def rule(*kinds: str) -> Callable[[Rule], Rule]:
    """Registers a rule for the derivatives of these types of operations."""

    def register(function: Rule) -> Rule:
        for kind in kinds:
            RULES[kind] = (*RULES.get(kind, ()), function)
        return function

    return register


def _zeros(scene: Scene) -> Facts | None:
    """The first input of the gradient operation, or of the forward operation, that holds zeros."""
    for facts in (*scene.numbers, *scene.forward_inputs):
        if facts.zeros and facts.dtype.startswith(("float", "bfloat", "complex")):
            return facts
    return None


def _zero_words(scene: Scene) -> tuple[str, ...]:
    facts = _zeros(scene)
    return () if facts is None else (words.of(facts.zeros, facts.size, "exactly 0"),)


@rule("Sqrt")
def _root(scene: Scene) -> Reason | None:
    if not scene.numbers or not scene.numbers[0].zeros:
        return None
    square = _square_under(scene)
    if scene.within("reduce_std", "std"):
        fix = "Use tf.sqrt(tf.math.reduce_variance(x) + 1e-6)."
        shape = _deviation_shape(scene)
        if shape:
            fix += f" {shape}"
    elif scene.within("norm", "euclidean_norm", "norm_v2"):
        fix = "Use tf.sqrt(tf.reduce_sum(tf.square(x)) + 1e-12) instead of tf.norm(x)."
    elif square:
        fix = (
            "The root of a square is an absolute value: use tf.abs(difference), whose derivative is finite; or add a "
            "small epsilon under the root: tf.sqrt(x + 1e-8)."
        )
    else:
        fix = "Add a small epsilon under the root: tf.sqrt(x + 1e-8)."
    return Reason(
        "derivative_of_sqrt_at_zero",
        "the derivative of sqrt at 0 is infinite, and Inf × 0 is NaN",
        fix,
        _zero_words(scene),
    )


def _square_under(scene: Scene) -> bool:
    """Whether the number under the root is a square itself, element by element."""
    for node in scene.forward:
        value = node.inputs[0]
        if value.node is not None and value.node.type in ("Square", "SquaredDifference"):
            return True
    return False


def _deviation_shape(scene: Scene) -> str:
    for node in scene.forward:
        mean = node.inputs[0].node
        if mean is not None and mean.type == "Mean" and mean.inputs[0].facts.shape[:1] == (1,):
            return "The batch has one row only, and the deviation of one row is 0: batch(..., drop_remainder=True)."
    return ""


@rule("Rsqrt")
def _reciprocal_root(scene: Scene) -> Reason | None:
    return Reason(
        "derivative_of_rsqrt_at_zero",
        "1 / sqrt(x) and its derivative are infinite at 0",
        "Add a small epsilon before it: tf.math.rsqrt(x + 1e-6); for vectors tf.math.l2_normalize(x, epsilon=1e-6).",
        _zero_words(scene),
    )


@rule("Log", "Log1p")
def _logarithm(scene: Scene) -> Reason | None:
    if is_overflow(scene.node):
        return None
    at = "-1" if scene.origin.op == "Log1p" else "0"
    return Reason(
        "derivative_of_log_at_zero",
        f"the derivative of the logarithm at {at} is infinite (1 / 0), and Inf × 0 is NaN",
        "Keep its argument above 0: tf.math.log(tf.maximum(x, 1e-7)) or log(x + 1e-7); for probabilities work on "
        "logits instead (from_logits=True, tf.nn.log_softmax).",
        _zero_words(scene),
    )


@rule("RealDiv", "Div", "Reciprocal", "Inv", "Xdivy", "DivNoNan")
def _division(scene: Scene) -> Reason | None:
    divisor = scene.forward_inputs[-1] if scene.forward_inputs else scene.numbers[-1]
    if divisor.zeros:
        evidence: tuple[str, ...] = (words.of(divisor.zeros, divisor.size, "exactly 0", "divisors"),)
    elif divisor.least < 1e-15:
        evidence = (f"smallest divisor {words.number(divisor.least)}; its square is 0 in {divisor.dtype}",)
    else:
        return None
    return Reason(
        "derivative_of_division_at_zero",
        "the derivative of a division by 0 is infinite, and Inf × 0 is NaN",
        "Keep the divisor away from 0 before dividing: x / tf.where(y == 0, 1.0, y), x / tf.maximum(y, 1e-7) or "
        "tf.math.divide_no_nan(x, y).",
        evidence,
    )


@rule("Pow")
def _power(scene: Scene) -> Reason | None:
    base = scene.forward_inputs[0] if scene.forward_inputs else scene.numbers[0]
    if base.negatives and scene.output.nan and not base.zeros:
        text = "the derivative of a negative number's broken power is NaN"
        evidence = (words.of(base.negatives, base.size, "negative", "bases"),)
    else:
        text = "the derivative of x to a power below 1 is infinite at 0, and Inf × 0 is NaN"
        evidence = (words.of(base.zeros, base.size, "exactly 0", "bases"),)
    return Reason(
        "derivative_of_power_at_zero",
        text,
        "Keep the base above 0: tf.pow(tf.maximum(x, 1e-7), p) or (x + 1e-7) ** p.",
        evidence,
    )


@rule("Acos", "Asin", "Acosh", "Atanh")
def _arcus(scene: Scene) -> Reason | None:
    name = scene.origin.op.lower()
    where = "1" if scene.origin.op == "Acosh" else "±1"
    x = scene.forward_inputs[0] if scene.forward_inputs else scene.numbers[0]
    bounds = "1 + 1e-6, 1e6" if scene.origin.op == "Acosh" else "-1 + 1e-6, 1 - 1e-6"
    return Reason(
        "derivative_of_arcus_at_end",
        f"the derivative of {name} is infinite at {where}",
        f"Clip its argument: tf.math.{name}(tf.clip_by_value(x, {bounds})).",
        (words.extent(x), words.of(x.ones, x.size, "exactly 1")),
    )


@rule("Atan2")
def _arcus_of_two(scene: Scene) -> Reason | None:
    return Reason(
        "derivative_of_atan2_at_zero",
        "the derivative of atan2(y, x) at y = x = 0 is 0 / 0 = NaN",
        "Move the point away from the origin: tf.math.atan2(y, x + 1e-7), or choose safe values with tf.where first.",
        _zero_words(scene),
    )


@rule("EuclideanNorm")
def _norm(scene: Scene) -> Reason | None:
    return Reason(
        "derivative_of_norm_at_zero",
        "the derivative of a norm at the zero vector is 0 / 0 = NaN",
        "Use tf.sqrt(tf.reduce_sum(tf.square(x)) + 1e-12).",
        _zero_words(scene),
    )


@rule("Svd", "SelfAdjointEigV2", "Eig", "Qr")
def _decomposition(scene: Scene) -> Reason | None:
    return Reason(
        "repeated_eigenvalues",
        f"the derivative of {scene.origin.op} divides by differences of eigenvalues or singular values; two are equal",
        "Make them differ: add a small random or graded diagonal before it; or use only the values, whose derivative "
        "is finite.",
        (),
        "likely",
    )


@rule("Cholesky", "MatrixInverse", "MatrixSolve", "MatrixTriangularSolve", "LogMatrixDeterminant", "MatrixDeterminant",
      "MatrixSquareRoot", "MatrixLogarithm")  # fmt: skip
def _singular(scene: Scene) -> Reason | None:
    return Reason(
        "singular_matrix",
        f"the derivative of {scene.origin.op} needs the inverse of a matrix that is singular or nearly so",
        "Add a small multiple of the identity before it: a + 1e-4 * tf.eye(n).",
        (),
        "likely",
    )


@rule("Lgamma", "Digamma", "Polygamma", "Zeta", "Igamma")
def _poles(scene: Scene) -> Reason | None:
    return Reason(
        "pole",
        f"the derivative of {scene.origin.op} has poles at 0 and the negative whole numbers",
        "Keep its argument positive: tf.maximum(x, 1e-6).",
        tuple(words.extent(facts) for facts in scene.forward_inputs[:1]),
    )


@rule("Mean")
def _mean_of_nothing(scene: Scene) -> Reason | None:
    if not any(facts.numeric and not facts.size for facts in scene.forward_inputs):
        return None
    return Reason(
        "mean_of_nothing",
        "the mean of no elements is 0 / 0 = NaN",
        "Do not let an empty batch come here: batch(..., drop_remainder=True), or "
        "tf.math.divide_no_nan(tf.reduce_sum(x), count).",
        (),
    )


@rule("Cast")
def _narrowing(scene: Scene) -> Reason | None:
    dtype = scene.output.dtype
    largest = max((facts.largest for facts in scene.numbers), default=0.0)
    return Reason(
        "cast_overflow",
        f"the gradient is too large for {dtype}, whose largest number is {words.number(largest_finite(dtype))}",
        "Lower the loss scale, or let keras.optimizers.LossScaleOptimizer choose it; or use bfloat16.",
        (f"largest |gradient| {words.number(largest)}",),
    )


@rule("")
def _overflow(scene: Scene) -> Reason | None:
    if not is_overflow(scene.node):
        return None
    largest = max((facts.largest for facts in scene.numbers), default=0.0)
    dtype = scene.output.dtype
    fix = (
        "Make the gradient smaller at its source: scale the loss and the inputs down, a smaller initialiser, gradient "
        "clipping."
    )
    if dtype == "float16":
        fix = (
            "The largest float16 is 65504: lower the loss scale, or let keras.optimizers.LossScaleOptimizer choose it; "
            "or use bfloat16 or float32 here."
        )
    return Reason(
        "gradient_overflow",
        f"the gradient exceeds the largest {dtype} in the derivative of {scene.origin.op}",
        fix,
        (f"largest input {words.number(largest)}", words.made(scene.output)),
    )
