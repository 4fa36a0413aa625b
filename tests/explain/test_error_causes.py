"""A step whose derivative raises is not recorded, and yet its report names the cause, in every way of training."""

import inspect

import keras
import pytest
import tensorflow as tf

import tb_gradhealth
from tb_gradhealth.explain import hooks
from tb_gradhealth.format.reader import read_run
from tb_gradhealth.health import assess

pytestmark = pytest.mark.filterwarnings("ignore")


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return next(first + place for place, line in enumerate(lines) if text in line)


def written(tmp_path, step, error):
    """The health of a run in which `step` raises `error`, caught inside the writer's block."""
    with tb_gradhealth.GradHealthWriter(str(tmp_path)) as writer, pytest.raises(error):
        writer.record(*step())
    return assess(read_run(str(tmp_path / "gradhealth")))


def only(health, kind="error"):
    (incident,) = health.incidents
    assert (incident.kind, incident.severity, incident.open) == (kind, "bad", True)
    assert health.verdict == "unhealthy" and health.steps == 0
    assert health.sentence.startswith("Unhealthy: ") and "No step" not in health.sentence
    assert incident.cause in health.causes
    return incident.cause


@pytest.mark.parametrize("compiled", [False, True])
def test_an_operation_without_gradient(tmp_path, compiled):
    w = tf.Variable([1.0, 2.0, 2.0], name="w")

    def gradients():
        with tf.GradientTape() as tape:
            distinct, _ = tf.unique(w)
            loss = tf.reduce_sum(distinct)
        return tape.gradient(loss, [w])

    run = tf.function(gradients) if compiled else gradients
    health = written(tmp_path, lambda: (run(), [w]), Exception)
    cause = only(health)
    assert (cause.op, cause.line, cause.certainty) == ("Unique", line_of(gradients, "tf.unique"), "certain")
    assert "raised LookupError" in health.sentence and "no gradient for the operation Unique" in health.sentence
    assert "/" not in health.sentence.partition("raised")[2]


def test_an_operation_without_gradient_behind_a_jacobian(tmp_path):
    w = tf.Variable([1.0, 2.0, 2.0], name="w")

    def step():
        with tf.GradientTape() as tape:
            distinct, _ = tf.unique(w)
            twice = distinct * 2.0
        return tape.jacobian(twice, [w]), [w]

    assert only(written(tmp_path, step, Exception)).line == line_of(step, "tf.unique")


def test_a_tape_used_twice(tmp_path):
    w = tf.Variable([1.0, 2.0], name="w")

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w)
        tape.gradient(loss, [w])
        again = tape.gradient(loss, [w])
        return again, [w]

    cause = only(written(tmp_path, step, RuntimeError))
    assert (cause.op, cause.line) == ("tape", line_of(step, "again ="))
    assert "persistent=True" in cause.fix


@pytest.mark.parametrize("compiled", [False, True])
def test_a_derivative_that_fails_for_these_values(tmp_path, compiled):
    w = tf.Variable([[1.0, 1.0], [1.0, 1.0]], name="w")

    def gradients():
        with tf.GradientTape() as tape:
            volume = tf.linalg.det(w)
            loss = tf.square(volume - 1.0)
        return tape.gradient(loss, [w])

    run = tf.function(gradients) if compiled else gradients
    cause = only(written(tmp_path, lambda: (run(), [w]), tf.errors.InvalidArgumentError))
    assert (cause.op, cause.line, cause.phase) == ("MatrixDeterminant", line_of(gradients, "tf.linalg.det"), "backward")
    assert "Input is not invertible" in cause.reason


def test_a_gradient_function_of_the_user_that_raises(tmp_path):
    w = tf.Variable([1.0, 2.0], name="w")

    @tf.custom_gradient
    def twice(x):
        def gradient(dy):
            raise ValueError("not today")

        return x * 2.0, gradient

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(twice(w))
        return tape.gradient(loss, [w]), [w]

    cause = only(written(tmp_path, step, ValueError))
    assert cause.code == 'raise ValueError("not today")' and "not today" in cause.reason


def test_none_that_an_operation_after_the_gradient_call_chokes_on(tmp_path):
    w, u = tf.Variable([1.0, 2.0], name="w"), tf.Variable([1.0], name="u")

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w) + tf.reduce_sum(tf.round(u))
        return [tf.clip_by_norm(g, 1.0) for g in tape.gradient(loss, [w, u])], [w, u]

    cause = only(written(tmp_path, step, ValueError), "none")
    assert (cause.op, cause.line, cause.variables) == ("Round", line_of(step, "tf.round"), ("u",))


def singular(y_true, y_pred):
    volume = tf.linalg.det(tf.reshape(y_pred, [-1, 2, 2]))
    return tf.reduce_mean(tf.square(volume - 1.0))


def contrast(y_true, y_pred):
    image = tf.image.adjust_contrast(tf.reshape(y_pred, [-1, 2, 2, 1]), 2.0)
    return tf.reduce_mean(image)


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize(
    ("loss", "text", "op"),
    [(singular, "tf.linalg.det", "MatrixDeterminant"), (contrast, "adjust_contrast", "AdjustContrastv2")],
)
def test_fit(tmp_path, eager, loss, text, op):
    dense = keras.layers.Dense(4, use_bias=False, kernel_initializer="ones")
    model = keras.Sequential([keras.Input((1,)), dense])
    model.compile("sgd", loss, run_eagerly=eager)
    callback = tb_gradhealth.GradHealthCallback(str(tmp_path))
    with pytest.raises(Exception):  # noqa: B017 - TensorFlow wraps it in different ways
        model.fit(tf.ones([4, 1]), tf.ones([4, 4]), verbose=0, callbacks=[callback])
    cause = only(assess(read_run(str(tmp_path / "gradhealth"))))
    assert (cause.op, cause.line) == (op, line_of(loss, text))
    assert not hooks.is_open()


def test_a_session(tmp_path):
    with tf.Graph().as_default():
        w = tf.compat.v1.get_variable("w", initializer=[[1.0, 1.0], [1.0, 1.0]])
        volume = tf.linalg.det(w)
        gradients = tf.gradients(tf.square(volume - 1.0), [w])
        hook = tb_gradhealth.v1.GradHealthHook(str(tmp_path), zip(gradients, [w], strict=True))
        with tf.compat.v1.Session() as session, hook:
            session.run(tf.compat.v1.global_variables_initializer())
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(hook.rows)
    cause = only(assess(read_run(str(tmp_path / "gradhealth"))))
    assert (cause.op, cause.variables) == ("MatrixDeterminant", ("w",))
    assert cause.line == line_of(test_a_session, "volume = tf.linalg.det")


def test_an_error_that_was_survived_has_passed(tmp_path):
    w = tf.Variable([1.0, 2.0], name="w")

    def gradients():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(w))
        return tape, loss, tape.gradient(loss, [w])

    with tb_gradhealth.GradHealthWriter(str(tmp_path)) as writer:
        tape, loss, found = gradients()
        writer.record(found, [w])
        with pytest.raises(RuntimeError):
            tape.gradient(loss, [w])
        for _ in range(3):
            writer.record(gradients()[2], [w])
    health = assess(read_run(str(tmp_path / "gradhealth")))
    (incident,) = health.incidents
    assert (incident.kind, incident.first_step, incident.open) == ("error", 1, False)
    assert health.verdict == "watch" and health.steps == 4


def test_an_exception_that_is_not_about_derivatives_is_no_incident(tmp_path):
    w = tf.Variable([1.0, 2.0], name="w")

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w) + tf.cast(tf.gather([1, 2], tf.cast(w[1], tf.int32) + 5), tf.float32)
        return loss, tape.gradient(loss, [w])

    with tb_gradhealth.GradHealthWriter(str(tmp_path)) as writer:
        with pytest.raises(tf.errors.InvalidArgumentError):
            step()
        writer.record([tf.ones([2])], [w])
    health = assess(read_run(str(tmp_path / "gradhealth")))
    assert health.verdict == "healthy" and not health.causes
