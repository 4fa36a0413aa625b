import keras
import numpy as np
import tensorflow as tf


def rank(a):
    return np.argsort(np.argsort(a, axis=1), axis=1).astype("float32")


class Ranks(keras.layers.Layer):
    def call(self, x):
        r = tf.numpy_function(rank, [x], tf.float32)
        return tf.reshape(r, [-1, 4])


class Ranker(keras.Model):
    def __init__(self):
        super().__init__()
        self.lift = keras.layers.Dense(4, name="lift")
        self.ranks = Ranks(name="ranks")
        self.join = keras.layers.Dense(1, name="join")

    def call(self, x):
        return self.join(self.ranks(self.lift(x)))


def build():
    keras.utils.set_random_seed(23)
    model = Ranker()
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse", jit_compile=False)
    return {"model": model, "x": tf.random.normal([8, 3], seed=24), "y": tf.ones([8, 1])}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=4, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Ranks computed by NumPy inside a subclassed model"
KIND = "none"
MODE = "fit"
EXPECT = {"lift": "none", "join": "ok"}
CAUSE = "numpy_function has no gradient."
CAUSE_LINE = "r = tf.numpy_function(rank, [x], tf.float32)"
CAUSE_OP = "PyFunc"
REASONS = ["numpy_function"]
FIX = [
    ("r = tf.numpy_function(rank, [x], tf.float32)", "r = tf.reduce_sum(tf.sigmoid(x[:, :, None] - x[:, None, :]), 2)")
]
