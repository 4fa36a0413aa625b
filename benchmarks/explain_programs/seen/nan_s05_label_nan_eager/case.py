import keras
import numpy as np
import tensorflow as tf


def load_targets():
    sold = np.array([12.0, 0.0, 7.0, 30.0], "float32")
    days = np.array([3.0, 0.0, 7.0, 10.0], "float32")
    with np.errstate(invalid="ignore"):
        per_day = sold / days
    return per_day[:, None]


def build():
    keras.utils.set_random_seed(105)
    net = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, activation="relu", name="hidden"),
                            keras.layers.Dense(1, name="out")])
    return {"net": net, "x": tf.random.normal([4, 2], seed=5), "y": load_targets()}


def step(state):
    net = state["net"]
    with tf.GradientTape() as tape:
        error = net(state["x"]) - state["y"]
        loss = tf.reduce_mean(tf.square(error))
    return tape.gradient(loss, net.trainable_variables), net.trainable_variables


# ---- answers ----
TITLE = "A target computed as a rate over zero days is NaN"
KIND = "nan"
MODE = "eager"
EXPECT = {"hidden": "nan", "out": "nan"}
CAUSE = "The labels themselves hold NaN: 0 / 0 in the preparation of the data."
CAUSE_LINE = "per_day = sold / days"
CAUSE_OP = "input"
REASONS = ["bad_input"]
FIX = [("per_day = sold / days", "per_day = sold / np.maximum(days, 1.0)")]
