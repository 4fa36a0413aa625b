import numpy as np
import tensorflow as tf


def build():
    w = tf.Variable(tf.random.stateless_normal([6, 6], [21, 1]) * 0.4, name="w")
    cut = tf.Variable(0.05, name="cut")
    out = tf.Variable(tf.random.stateless_normal([6, 1], [21, 2]) * 0.4, name="out")
    x = tf.constant(np.random.default_rng(21).normal(size=(24, 6)), tf.float32)
    y = tf.constant(np.random.default_rng(22).normal(size=(24, 1)), tf.float32)

    def prune(m):
        keep = tf.abs(m) > cut
        return tf.where(keep, m, tf.zeros_like(m))

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.matmul(x, prune(w)))
            loss = tf.reduce_mean(tf.square(tf.matmul(h, out) - y))
        return tape.gradient(loss, [w, cut, out])

    return {"vars": [w, cut, out], "train_step": train_step}


def step(state):
    return state["train_step"](), state["vars"]


# ---- answers ----
TITLE = "Learnable pruning threshold is only used in a comparison"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/42311"
KIND = "none"
MODE = "function"
EXPECT = {"w": "ok", "cut": "none", "out": "ok"}
CAUSE = "'cut' only enters a comparison; booleans have no gradient."
CAUSE_LINE = "keep = tf.abs(m) > cut"
CAUSE_OP = "Greater"
FIX = [("return tf.where(keep, m, tf.zeros_like(m))", "return m * tf.sigmoid(20.0 * (tf.abs(m) - cut))")]
