"""Causes of NaN and Inf through the product: eager loops, `fit` with and without XLA, TensorFlow 1 sessions."""

import inspect

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

import tb_gradhealth  # noqa: E402
from tb_gradhealth.format.reader import find_runs, read_run  # noqa: E402


def causes_in(directory):
    return [cause for run in find_runs(str(directory)) for cause in read_run(f"{directory}/{run}").causes]


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, line in enumerate(lines) if text in line)


def rooted(y_true, y_pred):
    return tf.sqrt(tf.reduce_mean(tf.square(y_pred - y_true), axis=-1))


@pytest.mark.parametrize("compiled", [{"jit_compile": False}, {"jit_compile": True}, {"run_eagerly": True}])
def test_fit_names_the_line_of_the_loss(tmp_path, compiled):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")])
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss=rooted, **compiled)
    x = np.array([[3.0], [2.0], [1.0], [5.0], [4.0]], "float32")
    model.fit(x, x * [[1.0], [0.5], [1.0], [1.0], [1.0]], batch_size=2, shuffle=False, verbose=0,
              callbacks=[tb_gradhealth.GradHealthCallback(str(tmp_path))])  # fmt: skip
    cause = causes_in(tmp_path)[0]
    assert (cause.op, cause.reason_id) == ("Sqrt", "derivative_of_sqrt_at_zero")
    assert (cause.file, cause.line) == (__file__, line_of(rooted, "tf.sqrt"))
    assert cause.step == 0 or compiled == {"run_eagerly": True}


@pytest.mark.parametrize("jit", [False, True])
def test_losses_are_the_same_bit_for_bit_with_and_without_us(tmp_path, jit):
    def losses(callbacks):
        keras.utils.set_random_seed(7)
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
        model.compile(optimizer="adam", loss="mse", jit_compile=jit)
        x = np.random.default_rng(0).normal(size=(10, 4)).astype("float32")
        return model.fit(x, x[:, :1], batch_size=4, epochs=3, verbose=0, callbacks=callbacks).history["loss"]

    assert losses([]) == losses([tb_gradhealth.GradHealthCallback(str(tmp_path))])
    assert causes_in(tmp_path) == []


def test_an_eager_loop_is_explained_at_the_very_step(tmp_path):
    w = tf.Variable([1.0, 0.0], name="w")
    with tb_gradhealth.GradHealthWriter(str(tmp_path)) as writer:
        for step, scale in enumerate([0.0, 1.0]):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(w) + scale * tf.math.log(w + 1.0 - scale))
            gradients = tape.gradient(loss, [w])
            writer.record(gradients, [w], step=step)
    cause = causes_in(tmp_path)[0]
    assert (cause.op, cause.step) == ("Log", 1)
    assert cause.line == line_of(test_an_eager_loop_is_explained_at_the_very_step, "tf.math.log")


def test_a_session_is_explained_from_the_run_that_went_wrong(tmp_path):
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None])
        w = v1.get_variable("w", initializer=[1.0], use_resource=True)
        loss = tf.reduce_sum(tf.sqrt(w * x))
        optimizer = v1.train.GradientDescentOptimizer(0.1)
        pairs = optimizer.compute_gradients(loss, [w])
        train = optimizer.apply_gradients(pairs)
        with tb_gradhealth.v1.GradHealthHook(str(tmp_path), pairs) as hook, v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for fed in ([1.0], [0.0]):
                _, rows = session.run([train, hook.rows], {x: fed})
                hook.record(rows)
    cause = causes_in(tmp_path)[0]
    assert (cause.op, cause.reason_id, cause.step) == ("Sqrt", "derivative_of_sqrt_at_zero", 1)
    assert cause.line == line_of(test_a_session_is_explained_from_the_run_that_went_wrong, "tf.sqrt")
