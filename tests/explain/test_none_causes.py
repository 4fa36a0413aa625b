"""Why a gradient is None: reason, operation and the line of this very file, in every mode."""

import inspect

import numpy as np
import pytest
import tensorflow as tf

from tb_gradhealth.explain import explain
from tb_gradhealth.explain.graph_v1 import explain_v1
from tb_gradhealth.explain.tape_watch import TapeWatch


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return next(first + place for place, line in enumerate(lines) if text in line)


def causes_of(step, variables, kind="none"):
    with TapeWatch() as watch:
        gradients = step()
        if kind == "none":
            ill = [i for i, g in enumerate(gradients) if g is None]
        else:
            ill = [i for i, g in enumerate(gradients) if g is not None and not np.any(g.numpy())]
        return watch.causes_of(gradients, variables, {kind: ill})


@pytest.fixture
def w():
    return tf.Variable([0.4, -1.2], name="w")


@pytest.fixture
def v():
    return tf.Variable([1.5, 0.5], name="v")


@pytest.mark.parametrize("compiled", [False, True])
def test_stop_gradient_is_named_with_its_line(w, v, compiled):
    def step():
        with tf.GradientTape() as tape:
            h = tf.stop_gradient(w * 2.0)
            loss = tf.reduce_sum(h * v)
        return tape.gradient(loss, [w, v])

    (cause,) = causes_of(tf.function(step) if compiled else step, [w, v])
    assert (cause.reason_id, cause.op, cause.line) == ("stop_gradient", "StopGradient", line_of(step, "h = tf.stop"))
    assert cause.file == __file__ and cause.variables == ("w",) and cause.certainty == "certain"
    assert "Remove tf.stop_gradient" in cause.fix


def test_a_value_that_went_through_numpy(w, v):
    def step():
        with tf.GradientTape() as tape:
            h = tf.square(w).numpy()
            loss = tf.reduce_sum(h * v)
        return tape.gradient(loss, [w, v])

    (cause,) = causes_of(step, [w, v])
    assert (cause.reason_id, cause.op, cause.line) == ("numpy", "numpy", line_of(step, ".numpy()"))


def test_what_was_computed_before_the_tape_is_blamed_in_the_function_that_asks(w):
    def model():
        return tf.reduce_sum(tf.square(w))

    def step():
        made = model()
        with tf.GradientTape() as tape:
            loss = made * 2.0
        return tape.gradient(loss, [w])

    (cause,) = causes_of(step, [w])
    assert (cause.reason_id, cause.op) == ("outside_tape", "outside_tape")
    assert cause.line == line_of(step, "made = model()")


def test_an_assignment_in_between(w, v):
    state = tf.Variable([0.0, 0.0], trainable=False)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            state.assign(w * 2.0)
            loss = tf.reduce_sum(state * v)
        return tape.gradient(loss, [w, v])

    (cause,) = causes_of(step, [w, v])
    assert (cause.reason_id, cause.op) == ("assigned", "AssignVariableOp")


def test_a_result_thrown_away_is_shown_where_it_ought_to_be_used(w, v):
    @tf.function
    def step():
        with tf.GradientTape() as tape:
            h = tf.tanh(w)  # noqa: F841
            loss = tf.reduce_sum(tf.square(v))
        return tape.gradient(loss, [w, v])

    (cause,) = causes_of(step, [w, v])
    assert cause.reason_id == "thrown_away" and cause.code.startswith("loss = tf.reduce_sum")


def test_many_variables_with_one_cause_are_one_cause(w, v):
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.cast(w + v > 0.0, tf.float32))
        return tape.gradient(loss, [w, v])

    (cause,) = causes_of(step, [w, v])
    assert cause.op == "Greater" and cause.variables == ("w", "v")


def test_a_custom_gradient_that_returns_none_is_shown_at_its_return(w, v):
    @tf.custom_gradient
    def product(a, b):
        def grad(dy):
            return dy * b, None

        return a * b, grad

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(product(w, v))
        return tape.gradient(loss, [w, v])

    (cause,) = causes_of(step, [w, v])
    assert cause.op == "custom_gradient" and cause.code == "return dy * b, None" and cause.variables == ("v",)


def test_an_unregistered_gradient_and_a_used_up_tape_are_told_before_they_raise(w):
    told = []
    with TapeWatch(on_causes=told.extend):
        with tf.GradientTape() as tape:
            distinct, _ = tf.unique(w)
            loss = tf.reduce_sum(distinct)
        with pytest.raises(LookupError):
            tape.gradient(loss, w)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w)
        tape.gradient(loss, w)
        with pytest.raises(RuntimeError):
            tape.gradient(loss, w)
    assert [cause.reason_id for cause in told] == ["no_gradient_registered", "tape_used_twice"]
    assert told[0].op == "Unique" and told[0].code.startswith("distinct, _ = tf.unique")


def test_a_tensorflow_1_graph_is_explained_after_the_fact():
    with tf.Graph().as_default():
        a = tf.compat.v1.get_variable("a", initializer=[1.0], use_resource=True)
        b = tf.compat.v1.get_variable("b", initializer=[2.0], use_resource=True)
        loss = tf.reduce_sum(tf.round(a) * b)
        gradients = tf.gradients(loss, [a, b])
        (cause,) = explain_v1(zip(gradients, [a, b], strict=True))
    assert (cause.reason_id, cause.op, cause.variables) == ("rounding", "Round", ("a",))


def test_a_dead_activation_gives_zeros_and_is_named(w, v):
    def step():
        with tf.GradientTape() as tape:
            h = tf.nn.relu(w - 10.0)
            loss = tf.reduce_sum(h + v)
        return tape.gradient(loss, [w, v])

    (cause,) = causes_of(step, [w, v], kind="zero")
    assert (cause.kind, cause.reason_id, cause.op) == ("zero", "dead_activation", "Relu")


def test_healthy_steps_have_no_causes(w, v):
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.relu(w) * v)
        return tape.gradient(loss, [w, v])

    assert causes_of(step, [w, v]) == []
    assert explain(step) == []


def test_explain_answers_without_a_run(w, v):
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.floor(w) * v)
        return tape.gradient(loss, [w, v])

    assert [cause.op for cause in explain(step)] == ["Floor"]
    assert [cause.op for cause in explain(tf.function(step))] == ["Floor"]
    with pytest.raises(TypeError, match="Received: int"):
        explain(3)


def test_closing_puts_everything_back_and_nothing_changes_meanwhile(w):
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.exp(w) * w)
        return tape.gradient(loss, w).numpy()

    before = {name: tf.GradientTape.__dict__[name] for name in ("gradient", "_push_tape", "_pop_tape", "jacobian")}
    plain = step()
    outer, inner = TapeWatch(), TapeWatch()
    outer.open()
    inner.open()
    watched = [step() for _ in range(6)]
    inner.close()
    inner.close()
    assert tf.GradientTape.__dict__["gradient"] is not before["gradient"]
    outer.close()
    assert {name: tf.GradientTape.__dict__[name] for name in before} == before
    assert all(np.array_equal(plain, other) for other in watched)
