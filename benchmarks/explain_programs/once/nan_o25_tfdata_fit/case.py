import keras
import numpy as np
import tensorflow as tf


def scale(row, label):
    low, high = tf.reduce_min(row), tf.reduce_max(row)
    return (row - low) / (high - low), label


def build():
    keras.utils.set_random_seed(225)
    rows = np.random.default_rng(5).uniform(size=(6, 4)).astype("float32")
    rows[3] = 0.25  # a blank picture
    data = tf.data.Dataset.from_tensor_slices((rows, np.ones((6, 1), "float32"))).map(scale).batch(3)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="tanh", name="d1"), keras.layers.Dense(1, name="d2")])
    model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse")
    return {"model": model, "data": data}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["data"], epochs=1, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Min-max scaling of a blank picture in the input pipeline"
KIND = "nan"
MODE = "fit"
EXPECT = {"d1": "nan", "d2": "nan"}
CAUSE = "The picture's maximum equals its minimum: 0 / 0 in the dataset's map function."
CAUSE_LINE = "return (row - low) / (high - low), label"
CAUSE_OP = "input"
REASONS = ["bad_input"]
FIX = [("/ (high - low), label", "/ tf.maximum(high - low, 1e-3), label")]
