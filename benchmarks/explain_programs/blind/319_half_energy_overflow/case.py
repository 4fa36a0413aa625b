import numpy as np
import tensorflow as tf


def build():
    w = tf.Variable(tf.random.stateless_normal([16, 8], [19, 1]), name="w")
    out = tf.Variable(tf.random.stateless_normal([8, 1], [19, 2]), name="out")
    rng = np.random.default_rng(319)
    x = tf.constant(rng.normal(size=(12, 16)) * 60, tf.float32)
    y = tf.constant(rng.normal(size=(12, 1)), tf.float32)

    def energy_pool(h):
        h = tf.cast(h, tf.float16)
        energy = tf.reduce_sum(tf.square(h), axis=-1, keepdims=True)
        share = tf.nn.softmax(energy, axis=0)
        return tf.cast(tf.reduce_sum(share * h, axis=0, keepdims=True), tf.float32)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            h = energy_pool(tf.matmul(x, w))
            loss = tf.reduce_mean(tf.square(tf.matmul(h, out) - y))
        return tape.gradient(loss, [w, out])

    return {"vars": [w, out], "train_step": train_step}


def step(state):
    return state["train_step"](), state["vars"]


# ---- answers ----
TITLE = "Pooling by energy computed in float16"
SOURCE = "https://github.com/keras-team/keras/issues/11832"
KIND = "nan"
MODE = "function"
EXPECT = {"w": "nan", "out": "nan"}
CAUSE = "The sum of squares is above 65504, so 'energy' is Inf in float16 and the softmax over it is NaN."
CAUSE_LINE = "energy = tf.reduce_sum(tf.square(h), axis=-1, keepdims=True)"
CAUSE_OP = "Square"
FIX = [("h = tf.cast(h, tf.float16)", "h = tf.cast(h, tf.float32)")]
