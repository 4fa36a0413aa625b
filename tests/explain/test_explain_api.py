"""`tb_gradhealth.explain`: scripts, notebooks, methods, lambdas, compiled functions; and how its answers look."""

import linecache
import subprocess
import sys

import keras
import pytest
import tensorflow as tf

import tb_gradhealth
from tb_gradhealth.format.causes import Cause

W = tf.Variable([0.4, -1.2], name="w")
V = tf.Variable([1.5, 0.5], name="v")


def loss_of(x):
    rounded = tf.round(W * x)
    return tf.reduce_sum(rounded * V)


def test_a_loss_function_is_run_once_and_differentiated():
    runs = []

    def counted(x):
        runs.append(x)
        return loss_of(x)

    (cause,) = tb_gradhealth.explain(counted, 2.0)
    assert (cause.op, cause.variables, len(runs)) == ("Round", ("w",), 1)
    assert cause.file == __file__ and cause.code == "rounded = tf.round(W * x)"


@pytest.mark.parametrize("output", ["tuple", "dictionary"])
def test_several_outputs(output):
    def function(x):
        loss = loss_of(x)
        return (loss, 3) if output == "tuple" else {"loss": loss, "name": "n"}

    (cause,) = tb_gradhealth.explain(function, 2.0)
    assert cause.op == "Round"


def test_a_lambda_a_method_and_a_compiled_function():
    class Trainer:
        def step(self, x):
            with tf.GradientTape() as tape:
                loss = loss_of(x)
            tape.gradient(loss, [W, V])

    for function in (lambda x: 2.0 * loss_of(x), Trainer().step, tf.function(Trainer().step)):
        (cause,) = tb_gradhealth.explain(function, tf.constant(2.0))
        assert (cause.op, cause.certainty) == ("Round", "certain")


def test_a_notebook_cell():
    cell = "<ipython-input-7-0123456789ab>"
    text = "import tensorflow as tf\ndef step(w):\n    with tf.GradientTape() as tape:\n        h = tf.floor(w)\n"
    text += "        loss = tf.reduce_sum(h)\n    return tape.gradient(loss, [w])\n"
    linecache.cache[cell] = (len(text), None, text.splitlines(keepends=True), cell)
    names = {}
    exec(compile(text, cell, "exec"), names)
    for function in (names["step"], tf.function(names["step"])):
        (cause,) = tb_gradhealth.explain(function, W)
        assert (cause.file, cause.line, cause.code) == (cell, 4, "h = tf.floor(w)")
    del linecache.cache[cell]


def test_a_loss_that_is_not_returned_and_one_that_is_a_constant():
    def forgets(x):
        loss_of(x)

    def constant(x):
        return tf.constant(3.0) * x

    (cause,) = tb_gradhealth.explain(forgets, 2.0)
    assert cause.reason_id == "none_given" and cause.code == "def forgets(x):"
    (cause,) = tb_gradhealth.explain(constant, 2.0)
    assert cause.reason_id == "constant_loss" and cause.code == "def constant(x):"


def test_what_the_function_computed_before_its_tape_is_outside_the_tape_and_not_another_tapes():
    def step():
        made = W * 2.0
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(made * V)
        return tape.gradient(loss, [W, V])

    (cause,) = tb_gradhealth.explain(step)
    assert (cause.reason_id, cause.code) == ("outside_tape", "made = W * 2.0")


def test_a_derivative_that_raises_is_a_cause_and_another_exception_goes_on():
    def step():
        with tf.GradientTape() as tape:
            distinct, _ = tf.unique(W)
            loss = tf.reduce_sum(distinct)
        return tape.gradient(loss, [W])

    (cause,) = tb_gradhealth.explain(step)
    assert (cause.kind, cause.op) == ("error", "Unique")
    with pytest.raises(ZeroDivisionError):
        tb_gradhealth.explain(lambda: 1 / 0)


def test_a_healthy_step_has_nothing_to_explain_and_is_not_changed():
    dense = keras.layers.Dense(2)
    dense.build((None, 3))
    before = [value.numpy().tolist() for value in dense.trainable_variables]

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(dense(x) - 1.0))
        gradients = tape.gradient(loss, dense.trainable_variables)
        for value, gradient in zip(dense.trainable_variables, gradients, strict=True):
            value.assign(value - gradient)
        return loss

    causes = tb_gradhealth.explain(step, tf.ones([2, 3]))
    assert causes == [] and repr(causes).startswith("Nothing to explain")
    assert "Nothing to explain" in causes._repr_html_()
    assert [value.numpy().tolist() for value in dense.trainable_variables] == before


def test_it_can_be_called_after_something_imported_the_package_of_that_name():
    program = "import tb_gradhealth\ntb_gradhealth.GradHealthWriter\nimport tb_gradhealth.explain.tape_watch\n"
    program += "import tensorflow as tf\nw = tf.Variable(1.0)\n"
    program += "print(tb_gradhealth.explain(lambda: tf.round(w) * 2.0)[0].op)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=200)
    assert done.stdout.split() == ["Round"]


def test_what_is_not_a_function_is_refused():
    with pytest.raises(TypeError, match="Received: int"):
        tb_gradhealth.explain(3)


def test_answers_read_as_text_and_as_html():
    causes = tb_gradhealth.explain(loss_of, 2.0)
    assert repr(causes) == str(causes) and f"{__file__}:" in repr(causes) and "Round is constant" in repr(causes)
    (cause,) = causes
    assert repr(cause).startswith("<Cause of none: Round at test_explain_api.py:") and "\n" not in repr(cause)
    assert "<pre>rounded = tf.round(W * x)</pre>" in causes._repr_html_()


def test_html_of_a_cause_is_text():
    cause = Cause(kind="nan", reason_id="r", reason="a<b>", op="Log", file="<x>", line=3, code="if a < b:", fix="&")
    page = cause._repr_html_()
    assert "<b>a&lt;b&gt;</b>" in page and "<pre>if a &lt; b:</pre>" in page and "→ &amp;" in page and "<x>" not in page
