"""In-graph statistics against NumPy in float64."""

import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf

from tb_gradhealth.record.statistics import LARGEST_NORM, NO_GRADIENT, NOT_FINITE, SMALLEST_NORM, UNKNOWN, measure

DTYPES = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
MODES = ["eager", "graph", "xla"]
SHAPES = [(), (1,), (7,), (3, 5), (64, 65), (2, 3, 4, 5), (300, 301)]


def run(gradients, mode, thorough=False):
    """The columns of `measure`, as NumPy arrays by name."""

    def step(values):
        measured = measure(values, thorough)
        return [measured.norm, measured.nans, measured.infs, measured.largest, measured.zero_share]

    if mode != "eager":
        step = tf.function(step, jit_compile=mode == "xla", autograph=False)
    names = ("norm", "nans", "infs", "largest", "zero_share")
    return dict(zip(names, (part.numpy() for part in step(gradients)), strict=True))


def draw(shape, dtype, scale=1.0, seed=0):
    """A random array in `dtype`, and the same numbers in double precision."""
    generator = np.random.default_rng(seed)
    values = generator.normal(size=shape) * scale
    if dtype.startswith("complex"):
        values = values + 1j * generator.normal(size=shape) * scale
    kept = np.asarray(values).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    return tf.constant(kept), kept.astype(np.complex128 if dtype.startswith("complex") else np.float64)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_norms_agree_with_double_precision(dtype, mode):
    pairs = [draw(shape, dtype, seed=seed) for seed, shape in enumerate(SHAPES)]
    found = run([tensor for tensor, _ in pairs], mode)
    expected = [np.sqrt(np.sum(np.abs(exact) ** 2)) for _, exact in pairs]
    np.testing.assert_allclose(found["norm"], expected, rtol=1e-5)
    assert not found["nans"].any() and not found["infs"].any()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("scale", [1e-36, 1e-30, 1e-20, 1e-15, 1e18, 1e25, 1e34])
def test_squares_beyond_the_range_of_float32_do_not_change_the_norm(dtype, scale, mode):
    tensor, exact = draw((50, 40), dtype, scale)
    norm = run([tensor], mode)["norm"][0]
    np.testing.assert_allclose(norm, np.sqrt(np.sum(np.abs(exact) ** 2)), rtol=1e-5)


@pytest.mark.parametrize("mode", MODES)
def test_norms_beyond_float32_are_stored_as_its_ends(mode):
    found = run([tf.constant([1e200, 1e201], tf.float64), tf.constant([1e-200], tf.float64)], mode)
    np.testing.assert_array_equal(found["norm"], np.array([LARGEST_NORM, SMALLEST_NORM], np.float32))


@pytest.mark.parametrize("mode", ["eager", "graph"])
def test_denormals_are_not_zero(mode):
    found = run([tf.constant([0.0, 1e-42, 0.0]), tf.constant([6e-8, 0.0], tf.float16)], mode)
    assert found["norm"][0] == np.float32(SMALLEST_NORM)
    assert found["norm"][1] == pytest.approx(6e-8, rel=0.01)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_nan_inf_zero_and_none_are_kept_apart(dtype, mode):
    tensor, exact = draw((6, 5), dtype)
    with_nan, with_inf, with_both = exact.copy(), exact.copy(), exact.copy()
    with_nan[0, 0] = with_nan[3, 2] = np.nan
    with_inf[1, :] = np.inf
    with_both[2, 2], with_both[0, :3] = np.nan, -np.inf
    of = [tf.cast(tf.constant(a), dtype) for a in (with_nan, with_inf, with_both, np.zeros((4, 4)), -np.zeros(3))]
    found = run([of[0], None, of[1], of[2], of[3], of[4], tensor], mode)
    np.testing.assert_array_equal(found["nans"], [2, 0, 0, 1, 0, 0, 0])
    np.testing.assert_array_equal(found["infs"], [0, 0, 5, 3, 0, 0, 0])
    assert (found["norm"][[0, 2, 3]] == NOT_FINITE).all()
    assert found["norm"][1] == NO_GRADIENT
    assert (found["norm"][[4, 5]] == 0).all()
    np.testing.assert_allclose(found["norm"][6], np.sqrt(np.sum(np.abs(exact) ** 2)), rtol=1e-5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("indices", [[0], [3, 3, 3, 3], [5, 1, 5, 2, 1, 5], [9, 8, 7], [0, 0, 9, 9, 4, 0]])
def test_repeated_rows_of_a_sparse_gradient_are_summed_first(indices, dtype, mode):
    tensor, exact = draw((len(indices), 8), dtype)
    dense = np.zeros((10, 8))
    np.add.at(dense, indices, exact)
    slices = tf.IndexedSlices(tensor, tf.constant(indices, tf.int64), tf.constant([10, 8], tf.int64))
    np.testing.assert_allclose(run([slices], mode)["norm"][0], np.linalg.norm(dense), rtol=1e-5)


@pytest.mark.parametrize("mode", MODES)
def test_nan_in_one_row_of_a_sparse_gradient_is_found(mode):
    values = np.ones((4, 3), "float32")
    values[2, 1] = np.nan
    slices = tf.IndexedSlices(tf.constant(values), tf.constant([7, 1, 7, 2]), tf.constant([10, 3]))
    assert run([slices], mode)["nans"][0] == 1


@pytest.mark.parametrize("jit", [False, True])
def test_a_large_embedding_is_never_made_dense(jit):
    """10**12 elements fit nowhere: this would fail if it were."""
    slices = tf.IndexedSlices(
        tf.ones([4, 1000]), tf.constant([5, 5, 10**9 - 1, 3], tf.int64), tf.constant([10**9, 1000], tf.int64)
    )
    found = run([slices], "xla" if jit else "graph")
    np.testing.assert_allclose(found["norm"][0], np.sqrt(1000 * (4 + 1 + 1)), rtol=1e-5)


@pytest.mark.parametrize("mode", MODES)
def test_largest_element_and_share_of_zeros_on_request(mode):
    values = np.array([[0.0, -3.0], [0.0, 1.0]], "float32")
    mixed = np.array([0.0, np.nan, 2.0, np.inf], "float32")
    found = run(
        [tf.constant(values), None, tf.constant(mixed), tf.constant([3 + 4j], tf.complex64)], mode, thorough=True
    )
    np.testing.assert_array_equal(found["largest"][[0, 2, 3]], np.array([3.0, 2.0, 5.0], "float32"))
    np.testing.assert_array_equal(found["zero_share"][[0, 2, 3]], np.array([0.5, 0.25, 0.0], "float32"))
    assert found["largest"][1] == UNKNOWN and found["zero_share"][1] == UNKNOWN


@pytest.mark.parametrize("mode", MODES)
def test_scalars_and_gradients_without_elements(mode):
    found = run([tf.constant(-2.0), tf.zeros([0, 4]), tf.zeros([0])], mode, thorough=True)
    np.testing.assert_array_equal(found["norm"], [2.0, 0.0, 0.0])


def test_all_none():
    found = run([None, None], "eager")
    np.testing.assert_array_equal(found["norm"], [NO_GRADIENT, NO_GRADIENT])


def test_a_shape_that_is_only_known_when_it_runs():
    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def step(gradient):
        return measure([gradient]).norm

    np.testing.assert_allclose(step(tf.ones([4, 3])).numpy(), [np.sqrt(12)], rtol=1e-6)


def test_a_million_elements_keep_their_precision_under_xla():
    tensor, exact = draw((1000, 1000), "float32")
    np.testing.assert_allclose(run([tensor], "xla")["norm"][0], np.linalg.norm(exact), rtol=1e-5)
