"""Facts against NumPy, and the walk on small traces."""

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from tb_gradhealth.explain.nonfinite.facts import facts_of  # noqa: E402
from tb_gradhealth.explain.nonfinite.inputs import where_bad  # noqa: E402
from tb_gradhealth.explain.nonfinite.trace import CONSTANT, INPUT, Node, Value  # noqa: E402
from tb_gradhealth.explain.nonfinite.walk import births  # noqa: E402


def value(numbers, origin=INPUT):
    return Value(tf.constant(numbers, tf.float32), origin)


def node(kind, inputs, output, index):
    made = Node(kind, tuple(inputs), (output,), (index,))
    output.node = made
    return made


def test_facts_count_what_numpy_counts():
    numbers = np.array([[0.0, -1.0, np.nan], [np.inf, -np.inf, 2.5]], np.float32)
    facts = facts_of(tf.constant(numbers))
    assert (facts.size, facts.nan, facts.plus_inf, facts.minus_inf) == (6, 1, 1, 1)
    assert (facts.zeros, facts.negatives) == (1, 2)
    assert (facts.low, facts.high, facts.largest) == (-1.0, 2.5, 2.5)
    assert facts.bad


def test_bfloat16_and_float16_are_read():
    for dtype in (tf.bfloat16, tf.float16):
        assert facts_of(tf.cast([1.0, float("inf")], dtype)).plus_inf == 1


def test_a_handle_has_no_facts_and_is_not_bad():
    assert not facts_of(tf.Variable(1.0).handle).bad


def test_the_walk_ends_where_all_inputs_are_finite():
    x, y, z = value([0.0]), value([np.inf]), value([np.nan])
    node("Reciprocal", [x], y, 0)
    node("Mul", [y, value([0.0])], z, 1)
    (birth,) = births([z])
    assert birth.node.type == "Reciprocal"


def test_a_literal_mask_is_innocent_and_softmax_over_it_is_the_birth():
    mask, logits, masked, out = (
        value([-np.inf, -np.inf], CONSTANT),
        value([1.0, 2.0]),
        value([-np.inf] * 2),
        value([np.nan] * 2),
    )
    node("AddV2", [logits, mask], masked, 0)
    node("Softmax", [masked], out, 1)
    (birth,) = births([out])
    assert birth.node.type == "Softmax"


def test_finite_values_have_no_birth():
    assert births([value([1.0, 2.0])]) == []


def test_bad_data_has_an_input_birth():
    x, y = value([[1.0, np.nan], [2.0, np.nan]]), value([[np.nan]])
    node("MatMul", [x], y, 0)
    (birth,) = births([y])
    assert birth.node is None and birth.value is x


def test_where_bad_names_rows_and_columns():
    words = " ".join(where_bad(np.array([[1.0, np.nan, 0.0], [2.0, np.nan, 0.0]]), "x"))
    assert "column 1 of 3" in words and "every one of 2 rows" in words
