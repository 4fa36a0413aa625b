import numpy as np
import tensorflow as tf
import keras


class Calibrator(tf.Module):
    def __init__(self, classes):
        super().__init__()
        self.temperature = tf.Variable(1.5, trainable=False, name="temperature")
        self.bias = tf.Variable(tf.zeros([classes]), name="bias")

    def __call__(self, logits):
        return logits / self.temperature + self.bias


def build():
    rng = np.random.default_rng(120)
    logits = tf.constant(3 * rng.normal(size=(40, 5)), tf.float32)
    labels = tf.constant(rng.integers(0, 5, 40))
    return {"cal": Calibrator(5), "logits": logits, "labels": labels, "opt": keras.optimizers.SGD(0.1)}


def step(state):
    cal = state["cal"]
    params = [cal.temperature, cal.bias]
    with tf.GradientTape() as tape:
        nll = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(state["labels"], cal(state["logits"])))
    grads = tape.gradient(nll, params)
    for g, p in zip(grads, params):
        if g is not None:
            p.assign_sub(0.1 * g)
    return grads, params


# ---- answers ----
TITLE = "Temperature scaling: the temperature never changes"
SOURCE = "https://www.tensorflow.org/guide/autodiff#controlling_what_the_tape_watches"
KIND = "none"
MODE = "eager"
EXPECT = {"temperature": "none", "bias": "ok"}
CAUSE = "The variable was created with trainable=False, so the tape does not watch it."
CAUSE_LINE = 'self.temperature = tf.Variable(1.5, trainable=False, name="temperature")'
CAUSE_OP = "not_trainable"
FIX = [("tf.Variable(1.5, trainable=False, name", "tf.Variable(1.5, name")]
