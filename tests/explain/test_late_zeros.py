"""A compiled model that dies while it trains: its zeros are explained, by the activation that explains all of them."""

import inspect

import numpy as np
import tensorflow as tf

import tb_gradhealth
from tb_gradhealth.format.reader import read_run
from tb_gradhealth.health import assess


class Model:
    def __init__(self):
        self.inner = tf.Variable([[0.5, -0.5], [0.3, 0.8]], name="inner")
        self.outer = tf.Variable([[0.4], [0.6]], name="outer")
        self.offset = tf.Variable([0.1], name="offset")

    @property
    def variables(self):
        return [self.inner, self.outer, self.offset]

    @tf.function
    def step(self):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul([[1.0, 2.0]], self.inner))
            guess = tf.nn.relu(tf.matmul(hidden, self.outer) + self.offset)
            loss = tf.reduce_sum(tf.square(guess - 5.0))
        return tape.gradient(loss, self.variables)


def incidents_of(tmp_path, dead_steps):
    model = Model()
    with tb_gradhealth.GradHealthWriter(str(tmp_path)) as writer:
        for step in range(3 + dead_steps):
            if step == 3:
                model.offset.assign([-100.0])
            writer.record(model.step(), model.variables, step=step)
    health = assess(read_run(str(tmp_path / "gradhealth")))
    return health, [i for i in health.incidents if i.kind == "zero"]


def test_the_activation_that_explains_every_zero_is_blamed(tmp_path):
    health, (incident,) = incidents_of(tmp_path, dead_steps=6)
    assert health.verdict == "watch" and incident.first_step == 3
    lines, first = inspect.getsourcelines(Model)
    assert incident.cause.line == first + next(at for at, text in enumerate(lines) if "guess = tf.nn.relu" in text)
    assert incident.cause.op == "Relu" and incident.cause.certainty == "likely"
    assert np.sort(incident.cause.variables).tolist() == ["inner", "offset", "outer"]


def test_a_few_zeros_at_the_end_are_not_explained(tmp_path):
    health, incidents = incidents_of(tmp_path, dead_steps=3)
    assert health.verdict == "healthy" and [i.cause for i in incidents] == [None]
