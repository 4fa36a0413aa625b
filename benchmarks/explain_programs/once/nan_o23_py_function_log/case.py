import keras
import numpy as np
import tensorflow as tf


def energy_db(signal):
    with np.errstate(divide="ignore"):
        return np.log(np.sum(signal**2, axis=1)).astype("float32")


def build():
    keras.utils.set_random_seed(223)
    net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, name="level")])
    x = tf.concat([tf.random.normal([2, 4], seed=1), tf.zeros([1, 4])], 0)  # the last clip is silent

    @tf.function
    def train_step(x):
        weight = tf.numpy_function(energy_db, [x], tf.float32)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(weight * tf.square(net(x)[:, 0] - 1.0))
        return tape.gradient(loss, net.trainable_variables)

    return {"net": net, "train_step": train_step, "x": x}


def step(state):
    return state["train_step"](state["x"]), state["net"].trainable_variables


# ---- answers ----
TITLE = "A loudness computed in NumPy is -Inf for silence"
KIND = "nan"
MODE = "function"
EXPECT = {"kernel": "nan", "bias": "inf"}
CAUSE = "np.log(0) inside the numpy_function is -Inf."
CAUSE_LINE = "weight = tf.numpy_function(energy_db, [x], tf.float32)"
CAUSE_OP = "PyFunc"
REASONS = ["python_code"]
FIX = [("np.sum(signal**2, axis=1)", "np.sum(signal**2, axis=1) + 1e-6")]
