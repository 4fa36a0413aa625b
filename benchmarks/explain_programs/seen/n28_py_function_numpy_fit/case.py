import keras
import numpy as np
import tensorflow as tf


def squash(a):
    return np.arctan(a.numpy()).astype("float32")


class Squash(keras.layers.Layer):
    def call(self, h):
        out = tf.py_function(squash, [h], tf.float32)
        return tf.ensure_shape(out, [None, 4])


def build():
    keras.utils.set_random_seed(28)
    model = keras.Sequential(
        [
            keras.Input((3,)),
            keras.layers.Dense(4, name="before"),
            Squash(name="squash"),
            keras.layers.Dense(1, name="after"),
        ]
    )
    model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse", jit_compile=False)
    return {"model": model, "x": tf.random.normal([6, 3], seed=29), "y": tf.ones([6, 1])}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=6, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "A Keras layer whose py_function computes with NumPy: its zero gradient has no shape and the next product fails"
KIND = "error"
MODE = "fit"
EXPECT = {}
EXPECT_ERROR = "Graph execution error"
CAUSE = "py_function differentiates the TensorFlow operations in its body; this one leaves TensorFlow with .numpy()."
CAUSE_LINE = "out = tf.py_function(squash, [h], tf.float32)"
CAUSE_OP = "EagerPyFunc"
REASONS = ["py_function_numpy", "py_function"]
FIX = [('return np.arctan(a.numpy()).astype("float32")', "return tf.atan(a)")]
