"""Which of several suspects is named, and how causes read."""

import inspect

import keras
import numpy as np
import pytest
import tensorflow as tf

import tb_gradhealth
from tb_gradhealth.explain import reasons, source
from tb_gradhealth.explain.tape_watch import TapeWatch
from tb_gradhealth.format.reader import read_run
from tb_gradhealth.health import assess


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return next(first + place for place, line in enumerate(lines) if text in line)


def causes_of(step, variables, kind="none"):
    with TapeWatch() as watch:
        gradients = step()
        none = [i for i, g in enumerate(gradients) if g is None]
        zero = [i for i, g in enumerate(gradients) if g is not None and not np.any(g.numpy())]
        return watch.causes_of(gradients, variables, {kind: none if kind == "none" else zero})


@pytest.mark.parametrize("compiled", [False, True])
def test_a_cut_on_a_side_way_is_not_blamed_if_mending_it_would_not_help(compiled):
    w = tf.Variable([0.4, -1.2], name="w")
    v = tf.Variable([1.5, 0.5], name="v")

    def step():
        with tf.GradientTape() as tape:
            centred = w - tf.stop_gradient(tf.reduce_mean(w))
            level = tf.math.floor(centred * 3.0)
            loss = tf.reduce_sum(level * v)
        return tape.gradient(loss, [w, v])

    (cause,) = causes_of(tf.function(step) if compiled else step, [w, v])
    assert (cause.op, cause.line) == ("Floor", line_of(step, "level ="))
    assert cause.evidence == ()


def losses(values, target):
    advantage = target - values
    policy = tf.reduce_mean(tf.stop_gradient(advantage))
    value = tf.reduce_mean(tf.square(advantage))
    return policy, value


@pytest.mark.parametrize("compiled", [False, True])
def test_a_loss_whose_name_is_never_read_is_blamed_before_a_stop_gradient(compiled):
    w = tf.Variable([0.4, -1.2], name="w")
    v = tf.Variable([1.5, 0.5], name="v")

    def step():
        with tf.GradientTape() as tape:
            policy, value = losses(w * 2.0, 1.0)  # noqa: RUF059 - that is the fault
            loss = policy + tf.reduce_sum(v)
        return tape.gradient(loss, [w, v])

    (cause,) = causes_of(tf.function(step) if compiled else step, [w, v])
    assert (cause.reason_id, cause.op, cause.line) == ("thrown_away", "unused", line_of(step, "loss ="))
    assert "never read" in cause.reason


def test_a_loss_that_is_read_elsewhere_leaves_the_blame_with_the_stop_gradient():
    w = tf.Variable([0.4, -1.2], name="w")
    v = tf.Variable([1.5, 0.5], name="v")
    shown = []

    def step():
        with tf.GradientTape() as tape:
            policy, value = losses(w * 2.0, 1.0)
            shown.append(value)
            loss = policy + tf.reduce_sum(v)
        return tape.gradient(loss, [w, v])

    (cause,) = causes_of(step, [w, v])
    assert (cause.op, cause.line) == ("StopGradient", line_of(losses, "stop_gradient"))


def test_a_tensor_written_into_a_numpy_array():
    w = tf.Variable([0.4, -1.2], name="w")

    def step():
        canvas = np.zeros((2, 2), "float32")
        with tf.GradientTape() as tape:
            for row in range(2):
                canvas[row] = w * float(row)
            loss = tf.reduce_sum(tf.convert_to_tensor(canvas))
        return tape.gradient(loss, [w])

    (cause,) = causes_of(step, [w])
    assert (cause.op, cause.line, cause.certainty) == ("numpy", line_of(step, "canvas[row]"), "likely")


def test_np_mean_as_the_loss():
    w = tf.Variable([0.4, -1.2], name="w")

    def step():
        with tf.GradientTape() as tape:
            error = tf.abs(w - 1.0)
            loss = tf.convert_to_tensor(np.mean(error)) / 4.0
        return tape.gradient(loss, [w])

    (cause,) = causes_of(step, [w])
    assert (cause.op, cause.line) == ("numpy", line_of(step, "np.mean"))


def test_a_numpy_function_inside_a_recomputed_block():
    w = tf.Variable([0.4, -1.2], name="w")
    v = tf.Variable([1.5, 0.5], name="v")

    def heavy(x):
        middle = tf.numpy_function(np.sort, [w * x], tf.float32)
        return tf.ensure_shape(middle, [2]) * v

    light = tf.recompute_grad(heavy)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(light(tf.constant([1.0, 2.0])))
        return tape.gradient(loss, [w, v])

    (cause,) = causes_of(step, [w, v], "zero")
    assert (cause.op, cause.line) == ("PyFunc", line_of(heavy, "numpy_function"))


def test_a_layer_of_zeros_that_trains_is_said_to_pass():
    first = tf.Variable([[0.5, -0.5]], name="first")
    last = tf.Variable([[0.0], [0.0]], name="last")

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.matmul(tf.matmul([[1.0]], first), last) - 1.0))
        return tape.gradient(loss, [first, last])

    (cause,) = causes_of(step, [first, last], "zero")
    assert cause.reason_id == "zero_weights" and cause.variables == ("first",)
    assert cause.evidence[-1] == "'last' itself gets a gradient, so that this passes with its first update."


def test_a_remembered_step_with_a_gradient_does_not_explain_zeros():
    w = tf.Variable([1.0, 2.0], name="w")

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.relu(w))
        return tape.gradient(loss, [w])

    with TapeWatch() as watch:
        step()
        assert watch.causes_of([None], [w], {"zero": [0]}, fresh=True) == []
        w.assign([-1.0, -2.0])
        step()
        (cause,) = watch.causes_of([None], [w], {"zero": [0]}, fresh=True)
    assert (cause.reason_id, cause.certainty) == ("dead_activation", "certain")


@pytest.mark.filterwarnings("ignore")
def test_a_tensor_in_the_place_of_a_variable_is_named_as_the_log_names_it(tmp_path):
    values = [tf.Variable([1.0], name="w")]

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(values[0]))
        gradients = tape.gradient(loss, values)
        asked = list(values)
        if gradients[0] is not None:
            values[0] = values[0] - 0.1 * gradients[0]
        return gradients, asked

    with tb_gradhealth.GradHealthWriter(str(tmp_path)) as writer:
        for _ in range(2):
            writer.record(*step())
    health = assess(read_run(str(tmp_path / "gradhealth")))
    (incident,) = (i for i in health.incidents if i.kind == "none")
    assert incident.cause is not None and set(incident.cause.variables) <= set(incident.variables)
    assert incident.cause.line == line_of(step, "values[0] = values[0]")


def test_keras_layers_own_stop_gradients_are_innocent(tmp_path):
    model = keras.Sequential(
        [
            keras.Input((3,)),
            keras.layers.Dense(4, name="below"),
            keras.layers.LayerNormalization(),
            keras.layers.Lambda(tf.round, name="quantise"),
            keras.layers.Dense(1, name="above"),
        ]
    )
    model.compile("sgd", "mse")
    with pytest.warns(UserWarning, match="Gradients do not exist"):
        model.fit(
            tf.ones([4, 3]), tf.ones([4, 1]), verbose=0, callbacks=[tb_gradhealth.GradHealthCallback(str(tmp_path))]
        )
    health = assess(read_run(str(tmp_path / "gradhealth")))
    assert {i.cause.op for i in health.incidents if i.kind == "none"} == {"Round"}


def test_every_text_is_a_sentence_and_agrees_in_number():
    for reason_id in reasons.WORDS:
        for who, several in (("'a'", False), ("'a' and 'b'", True)):
            words = reasons.words(reason_id, who, "Op", "", several)
            assert words.reason[0].isupper() or words.reason.startswith("'")
            assert words.reason.endswith(".") and "{" not in words.reason
            assert not words.fix or (words.fix[0].isupper() and words.fix.endswith((".", ")")))
            assert not (several and words.reason.startswith("'a' and 'b' is"))


def test_files_in_sentences_are_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert source.shown(str(tmp_path / "src" / "train.py")) == "src/train.py"
    monkeypatch.syspath_prepend(str(tmp_path.parent))
    monkeypatch.chdir("/")
    assert source.shown(str(tmp_path / "train.py")) in (f"{tmp_path.name}/train.py", str(tmp_path / "train.py")[1:])
    assert source.shown("<ipython-input-3-abc>") == "<ipython-input-3-abc>"
