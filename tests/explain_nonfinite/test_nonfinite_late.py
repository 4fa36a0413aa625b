"""A NaN that comes late in a loop of short eager steps, which are not noted one by one, has its exact line."""

import inspect

import pytest

tf = pytest.importorskip("tensorflow")

import tb_gradhealth  # noqa: E402
from tb_gradhealth.explain.nonfinite import live  # noqa: E402
from tb_gradhealth.format.reader import find_runs, read_run  # noqa: E402

LATE = 60


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, line in enumerate(lines) if text in line)


def causes_in(directory):
    return [cause for run in find_runs(str(directory)) for cause in read_run(f"{directory}/{run}").causes]


def loss_of(w, x):
    h = tf.tanh(x * w)
    root = tf.sqrt(tf.reduce_sum(tf.square(h[:, :1]), 1))
    return tf.reduce_mean(root)


def logarithms(w, x):
    return tf.reduce_mean(tf.math.log(x * w) * x[:, :1])


@pytest.fixture
def few_steps_noted(monkeypatch):
    """However slow this machine is, steps are short, and only glimpsed after the first ones."""
    monkeypatch.setattr(live, "SHARE", 1e-9)


def train(folder, compute, steps=LATE + 5):
    w = tf.Variable([1.0, 0.5], name="w")
    with tb_gradhealth.GradHealthWriter(str(folder)) as writer:
        for step in range(steps):
            x = tf.constant([[0.0, 1.0], [1.0, 2.0]] if step == LATE else [[1.0, 1.0], [1.0, 2.0]])
            gradients = compute(w, x)
            writer.record(gradients, [w])
            w.assign_sub(1e-4 * gradients[0])
    return causes_in(folder)


@pytest.mark.parametrize("loss", [loss_of, logarithms])
def test_in_an_eager_loop(tmp_path, few_steps_noted, loss):
    def compute(w, x):
        with tf.GradientTape() as tape:
            value = loss(w, x)
        return tape.gradient(value, [w])

    causes = train(tmp_path, compute)
    op, text = ("Sqrt", "tf.sqrt") if loss is loss_of else ("Log", "tf.math.log")
    assert (causes[0].op, causes[0].line, causes[0].step) == (op, line_of(loss, text), LATE)
    assert len(causes) == 1


def test_in_a_loop_that_calls_a_compiled_function(tmp_path, few_steps_noted):
    @tf.function
    def compute(w, x):
        with tf.GradientTape() as tape:
            value = loss_of(w, x)
        return tape.gradient(value, [w])

    causes = train(tmp_path, compute)
    assert [(c.op, c.line, c.step) for c in causes] == [("Sqrt", line_of(loss_of, "tf.sqrt"), LATE)]


def test_nothing_is_held_of_steps_that_are_well(tmp_path, few_steps_noted):
    import gc
    import weakref

    seen = []

    def compute(w, x):
        with tf.GradientTape() as tape:
            value = loss_of(w, x)
        seen.append(weakref.ref(value))
        return tape.gradient(value, [w])

    train(tmp_path, compute, steps=30)
    gc.collect()
    assert [at for at, ref in enumerate(seen) if ref() is not None] == []
