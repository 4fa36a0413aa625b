import keras
import numpy as np
import tensorflow as tf


def median(a):
    return np.median(a, axis=1, keepdims=True).astype("float32")


def build():
    keras.utils.set_random_seed(11)
    before = keras.layers.Dense(5, name="before")
    after = keras.layers.Dense(1, name="after")
    before.build((None, 3))
    after.build((None, 1))
    variables = before.trainable_variables + after.trainable_variables

    def heavy(x):
        m = tf.numpy_function(median, [before(x)], tf.float32)
        return after(tf.ensure_shape(m, [6, 1]))

    light = tf.recompute_grad(heavy)

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(light(x) - 1.0))
        return tape.gradient(loss, variables)

    return {"variables": variables, "train_step": train_step, "x": tf.random.normal([6, 3], seed=12)}


def step(state):
    return state["train_step"](state["x"]), state["variables"]


# ---- answers ----
TITLE = "A numpy_function inside a recomputed block"
KIND = "zero"
MODE = "function"
EXPECT = {"before": "zero", "after": "ok"}
CAUSE = "numpy_function is opaque; recompute_grad answers zeros for what is not connected."
CAUSE_LINE = "m = tf.numpy_function(median, [before(x)], tf.float32)"
CAUSE_OP = "PyFunc"
REASONS = ["numpy_function"]
FIX = [("m = tf.numpy_function(median, [before(x)], tf.float32)", "m = tf.reduce_mean(before(x), 1, keepdims=True)")]
