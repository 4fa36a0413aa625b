import numpy as np
import tensorflow as tf


def build():
    w1 = tf.Variable(tf.random.stateless_normal([8, 12], [2, 2]) * 0.4, name="w1")
    w2 = tf.Variable(tf.random.stateless_normal([12, 1], [3, 2]) * 0.4, name="w2")
    x = tf.constant(np.random.default_rng(2).normal(size=(20, 8)), tf.float32)
    y = tf.constant(np.random.default_rng(3).choice([-1.0, 1.0], size=(20, 1)), tf.float32)

    def binarise(t):
        return tf.sign(t)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            h = binarise(tf.matmul(x, w1))
            out = tf.matmul(h, w2)
            loss = tf.reduce_mean(tf.nn.softplus(-y * out))
        grads = tape.gradient(loss, [w1, w2])
        for g, v in zip(grads, [w1, w2]):
            v.assign_sub(0.1 * g)
        return grads

    return {"vars": [w1, w2], "train_step": train_step}


def step(state):
    return state["train_step"](), state["vars"]


# ---- answers ----
TITLE = "Binarised network without a straight-through estimator"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/42311"
KIND = "zero"
MODE = "function"
EXPECT = {"w1": "zero", "w2": "ok"}
CAUSE = "tf.sign is flat everywhere, its registered gradient is zeros."
CAUSE_LINE = "return tf.sign(t)"
CAUSE_OP = "Sign"
FIX = [("return tf.sign(t)", "return t + tf.stop_gradient(tf.sign(t) - t)")]
