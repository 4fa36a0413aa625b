import numpy as np
import tensorflow as tf


def build():
    rng = np.random.default_rng(133)
    w = tf.Variable(rng.normal(size=(5, 5)) * 0.4, dtype=tf.float32, name="w")
    head = tf.Variable(rng.normal(size=(5, 1)) * 0.4, dtype=tf.float32, name="head")
    first = tf.Variable(rng.normal(size=(3, 5)) * 0.4, dtype=tf.float32, name="first")
    x = tf.constant(rng.normal(size=(10, 3)), tf.float32)
    y = tf.constant(rng.normal(size=(10, 1)), tf.float32)

    @tf.custom_gradient
    def reversible(h):
        out = h + tf.tanh(tf.matmul(h, w))

        def grad(dy, variables=None):
            back = dy + tf.matmul(dy * (1.0 - tf.square(out - h)), w, transpose_b=True)
            return back, [None for _ in variables]

        return out, grad

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            h = reversible(tf.matmul(x, first))
            loss = tf.reduce_mean(tf.square(tf.matmul(h, head) - y))
        return tape.gradient(loss, [first, w, head])

    return {"vars": [first, w, head], "train_step": train_step}


def step(state):
    return state["train_step"](), state["vars"]


# ---- answers ----
TITLE = "Reversible block with custom_gradient gives nothing for its own weights"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/25694"
KIND = "none"
MODE = "function"
EXPECT = {"first": "ok", "w": "none", "head": "ok"}
CAUSE = "The hand-written grad returns None for every captured variable."
CAUSE_LINE = "return back, [None for _ in variables]"
CAUSE_OP = "custom_gradient"
FIX = [("return back, [None for _ in variables]", "return back, [tf.matmul(h, dy * (1.0 - tf.square(out - h)), transpose_a=True)]")]
