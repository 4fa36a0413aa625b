"""`explain_step`: the operation, the line, the numbers, for eager code and for traced functions."""

import inspect

import pytest

tf = pytest.importorskip("tensorflow")

from tb_gradhealth.explain.nonfinite import explain_step  # noqa: E402


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, line in enumerate(lines) if text in line)


def gradient_of(loss_of, *variables):
    def step():
        with tf.GradientTape() as tape:
            loss = loss_of(*variables)
        return tape.gradient(loss, variables)

    return step


def only(causes):
    assert len(causes) == 1, [str(cause) for cause in causes]
    return causes[0]


def sqrt_at_zero(w):
    return tf.reduce_sum(tf.sqrt(w * 2.0))


def test_a_derivative_at_its_pole_names_the_forward_line_and_the_count():
    w = tf.Variable([4.0, 0.0, 0.0], name="w")
    cause = only(explain_step(gradient_of(sqrt_at_zero, w)))
    assert (cause.op, cause.phase, cause.reason_id) == ("Sqrt", "backward", "derivative_of_sqrt_at_zero")
    assert (cause.file, cause.line) == (__file__, line_of(sqrt_at_zero, "tf.sqrt"))
    assert cause.variables == ("w",) and cause.certainty == "certain"
    assert "2 of 3 inputs were exactly 0" in cause.evidence
    assert "epsilon" in cause.fix


def masked_log(w):
    return tf.reduce_sum(tf.where(w > 0.0, tf.math.log(w), 0.0) * w)


def test_the_untaken_branch_of_where_is_told_as_such():
    cause = only(explain_step(gradient_of(masked_log, tf.Variable([1.0, 0.0]))))
    assert cause.op == "Log" and "tf.where" in cause.fix
    assert cause.line == line_of(masked_log, "tf.math.log")


def overflowing(w):
    hidden = tf.exp(w)
    return tf.reduce_sum(hidden / (1.0 + hidden))


def test_an_inf_that_was_computed_is_blamed_not_the_nan_it_became():
    cause = only(explain_step(gradient_of(overflowing, tf.Variable([100.0]))))
    assert (cause.op, cause.phase, cause.reason_id) == ("Exp", "forward", "exp_overflow")
    assert cause.line == line_of(overflowing, "tf.exp")


def recurrence(w):
    h = tf.ones([1, 4])
    for _ in range(80):
        h = tf.matmul(h, w)
    return tf.reduce_sum(h)


def test_overflow_by_growth_is_reported_with_its_series():
    cause = only(explain_step(gradient_of(recurrence, tf.Variable(tf.fill([4, 4], 2.0), name="w"))))
    assert cause.reason_id == "growth_in_recurrence" and cause.op == "MatMul"
    assert any(text.startswith("Largest |value| at successive repetitions") for text in cause.evidence)


def in_a_loop(w):
    i, h = tf.constant(0), w
    while i < 5:
        h = tf.where(tf.equal(i, 3), h / 0.0, h * 1.5)
        i += 1
    return tf.reduce_sum(h)


def test_a_traced_function_is_entered_down_to_its_loops_and_its_updates_do_not_happen():
    w = tf.Variable([1.0], name="w")

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = in_a_loop(w)
        (gradient,) = tape.gradient(loss, [w])
        w.assign_sub(gradient)
        return loss

    cause = explain_step(step)[0]
    assert cause.op == "RealDiv" and cause.line == line_of(in_a_loop, "/ 0.0")
    assert w.numpy() == [1.0]


def test_bad_data_is_the_input_with_its_column():
    w = tf.Variable([[1.0], [2.0]])

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(x, w))
        return tape.gradient(loss, [w])

    cause = only(explain_step(step, tf.constant([[1.0, float("nan")], [2.0, 3.0]])))
    assert cause.op == "input" and cause.reason_id == "bad_input"
    assert any("Column 1 of 2" in text for text in cause.evidence)


def test_healthy_steps_have_no_cause_and_a_literal_mask_is_innocent():
    def attention(w):
        logits = w + tf.constant([[0.0, float("-inf")], [0.0, 0.0]])
        return tf.reduce_sum(tf.nn.softmax(logits) * [[1.0, 2.0], [3.0, 4.0]])

    w = tf.Variable([[0.1, 0.2], [0.3, 0.4]])
    assert explain_step(gradient_of(attention, w)) == []
    assert explain_step(tf.function(gradient_of(attention, w))) == []


def test_tensorflow_is_as_before_afterwards():
    from tensorflow.python.eager import backprop, execute

    before = (execute.execute, tf.GradientTape.gradient, backprop._gradient_function)
    explain_step(gradient_of(sqrt_at_zero, tf.Variable([0.0])))
    assert (execute.execute, tf.GradientTape.gradient, backprop._gradient_function) == before
    assert not tf.compat.v1.get_default_graph().building_function


def test_a_gradient_that_is_finite_and_grew_says_what_multiplied_it(tmp_path):
    import tb_gradhealth
    from tb_gradhealth.format.reader import find_runs, read_run

    def training(folder, stddev):
        u = tf.Variable(tf.random.stateless_normal([6, 6], [1, 2], stddev=stddev), name="recurrent")
        with tb_gradhealth.GradHealthWriter(str(folder)) as writer:
            with tf.GradientTape() as tape:
                h = tf.ones([2, 6])
                for _ in range(40):
                    h = tf.matmul(h, u)
                loss = tf.reduce_mean(h)
            writer.record(tape.gradient(loss, [u]), [u])
        return [c for run in find_runs(str(folder)) for c in read_run(f"{folder}/{run}").causes]

    assert training(tmp_path / "well", 0.2) == []
    cause = only(training(tmp_path / "ill", 2.0))
    assert (cause.kind, cause.reason_id, cause.op) == ("exploding", "growth_in_recurrence", "MatMul")
    assert cause.line == line_of(test_a_gradient_that_is_finite_and_grew_says_what_multiplied_it, "stateless_normal")
    assert list(cause.variables) == ["recurrent"] and any("successive repetitions" in text for text in cause.evidence)
