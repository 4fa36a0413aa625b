"""Through which inputs of an operation no derivative flows, and why: TensorFlow's registry and what it hides.

Promises: pure look-ups by the operation's type; what is not known to stop a derivative is taken to let it through, and
the tape's own answer then has the last word. Reasons are the ids that `reasons` has words for.
"""

import functools

from tb_gradhealth.explain import private

ALL = -1
"""Stands for every input of an operation."""

_ARG = frozenset(
    {"ArgMax", "ArgMin", "TopK", "TopKV2", "ApproxTopK", "LowerBound", "UpperBound", "Bucketize", "NonMaxSuppression",
     "NonMaxSuppressionV2", "NonMaxSuppressionV3", "NonMaxSuppressionV4", "NonMaxSuppressionV5",
     "CombinedNonMaxSuppression", "HistogramFixedWidth", "Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2",
     "CTCGreedyDecoder", "CTCBeamSearchDecoder", "InTopK", "InTopKV2", "XlaVariadicSort"}
)  # fmt: skip
_ROUNDING = frozenset(
    {"Round", "Floor", "Ceil", "Rint", "FloorDiv", "TruncateDiv", "FloorMod", "TruncateMod", "Sign",
     "QuantizeV2", "Quantize", "Bitcast"}
)  # fmt: skip
_COMPARISON = frozenset(
    {"Greater", "GreaterEqual", "Less", "LessEqual", "Equal", "NotEqual", "ApproximateEqual", "LogicalAnd", "LogicalOr",
     "LogicalNot", "IsNan", "IsInf", "IsFinite", "Where", "Any", "All"}
)  # fmt: skip
_STRING = frozenset(
    {"AsString", "StringFormat", "StringToNumber", "EncodeBase64", "SerializeTensor", "EncodePng", "EncodeJpeg",
     "StringJoin", "WriteFile", "EncodeWav"}
)  # fmt: skip
_SAMPLING = frozenset(
    {"Multinomial", "StatelessMultinomial", "RandomPoisson", "RandomPoissonV2", "StatelessRandomPoisson",
     "StatefulRandomBinomial", "StatelessRandomBinomial", "LogUniformCandidateSampler", "UniformCandidateSampler",
     "LearnedUnigramCandidateSampler", "FixedUnigramCandidateSampler", "AllCandidateSampler", "RandomUniformInt"}
)  # fmt: skip
_SHAPE = frozenset(
    {"Shape", "ShapeN", "Size", "Rank", "ZerosLike", "OnesLike", "VariableShape", "BroadcastGradientArgs",
     "BroadcastArgs", "TensorListLength", "TensorListElementShape", "TensorArraySizeV3", "EnsureShapeArgs",
     "VarIsInitializedOp", "IsVariableInitialized", "RaggedTensorToVariant"}
)  # fmt: skip
_WRITES = (
    "Assign", "AssignAdd", "AssignSub", "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp",
    "ResourceScatter", "ResourceStridedSliceAssign", "ResourceApply", "ResourceSparseApply", "ScatterUpdate",
    "ScatterAdd", "ScatterNdUpdate", "StridedSliceAssign", "ApplyGradient", "ResourceConditionalAccumulator",
)  # fmt: skip
_QUEUES = ("QueueEnqueue", "StackPush", "LookupTableInsert", "LookupTableImport", "TensorMapInsert", "Stage")

# Registered, and yet the gradient function answers None for these inputs although they are floats.
_NO_DERIVATIVE_FOR: dict[str, frozenset[int]] = {
    "Betainc": frozenset({0, 1}),
    "Zeta": frozenset({0}),
    "Polygamma": frozenset({0}),
    "ImageProjectiveTransformV2": frozenset({1, 2}),
    "ImageProjectiveTransformV3": frozenset({1, 2, 3}),
    "ScaleAndTranslate": frozenset({1, 2, 3}),
    "QuantizeAndDequantize": frozenset({1, 2}),
    "QuantizeAndDequantizeV2": frozenset({1, 2}),
    "QuantizeAndDequantizeV3": frozenset({1, 2, 3}),
    "RandomGamma": frozenset({0}),
    "Select": frozenset({0}),
    "SelectV2": frozenset({0}),
    "Fill": frozenset({0}),
    "ResizeBilinear": frozenset({1}),
    "ResizeBicubic": frozenset({1}),
    "ResizeNearestNeighbor": frozenset({1}),
    "CropAndResize": frozenset({2, 3}),
    "TensorListStack": frozenset({1}),
    "CudnnRNNV3": frozenset({4}),
}
# Registered, and the gradient function answers None for everything.
_NEVER = frozenset({"ArgMax", "ArgMin", "Floor", "Ceil", "Round", "Rint", "FloorDiv", "TruncateDiv"})

DECOYS = frozenset({"shape"})
"""Reasons of edges that hardly ever are the culprit: everything has a shape."""

WEAK = frozenset({"comparison", "branch_condition"})
"""Reasons of edges that are the culprit only where nothing stronger is to be found: masks and conditions."""


@functools.lru_cache(maxsize=4096)
def blocked_inputs(op_type: str) -> dict[int, str]:
    """Input (or ALL) → reason, for the inputs through which no derivative of this type of operation flows."""
    if op_type == "EagerPyFunc":
        return {}
    if op_type in ("PyFunc", "PyFuncStateless"):
        return {ALL: "numpy_function"}
    if op_type in ("StopGradient", "PreventGradient"):
        return {ALL: "stop_gradient"}
    if is_write(op_type):
        return {ALL: "assigned"}
    if op_type.startswith(_QUEUES):
        return {ALL: "stored"}
    if op_type in _NEVER:
        return {ALL: reason_of(op_type)}
    if op_type in _NO_DERIVATIVE_FOR:
        return {index: _reason_of_input(op_type) for index in _NO_DERIVATIVE_FOR[op_type]}
    state = private.registered_gradient(op_type)
    if state == private.NOT_DIFFERENTIABLE:
        return {ALL: reason_of(op_type)}
    if state == private.NOT_REGISTERED:
        return {ALL: reason_of(op_type, "no_gradient_registered")}
    return {}


@functools.lru_cache(maxsize=4096)
def reason_of(op_type: str, otherwise: str = "not_differentiable") -> str:
    """The reason for which values of such an operation carry no derivative; of an integer result, too."""
    for reason, types in (
        ("argmax", _ARG), ("rounding", _ROUNDING), ("comparison", _COMPARISON), ("string", _STRING),
        ("sampling", _SAMPLING), ("shape", _SHAPE),
    ):  # fmt: skip
        if op_type in types:
            return reason
    if op_type in ("PyFunc", "PyFuncStateless"):
        return "numpy_function"
    if op_type == "EagerPyFunc":
        return "py_function"
    return "integer_cast" if op_type == "Cast" else otherwise


def _reason_of_input(op_type: str) -> str:
    if op_type in ("Select", "SelectV2"):
        return "comparison"
    return "shape" if op_type in ("Fill", "TensorListStack") else "input_without_derivative"


def is_write(op_type: str) -> bool:
    """Whether the operation writes into a variable."""
    return op_type.startswith(_WRITES)


def raises(op_type: str) -> bool:
    """Whether a derivative that reaches such an operation raises because no gradient is registered."""
    return private.registered_gradient(op_type) == private.NOT_REGISTERED


_CALLERS = frozenset({"PartitionedCall", "StatefulPartitionedCall", "While", "StatelessWhile", "If", "StatelessIf"})


def calls_functions(op_type: str) -> bool:
    """Whether the operation runs graphs of its own: a function, a loop, a branch."""
    return op_type in _CALLERS
