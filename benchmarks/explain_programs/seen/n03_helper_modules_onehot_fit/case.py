import os
import sys

import keras
import tensorflow as tf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blocks


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.mix = blocks.Mixture(3, 5, name="mix")
        self.out = keras.layers.Dense(1, name="out")

    def call(self, x):
        return self.out(self.mix(x))


def build():
    keras.utils.set_random_seed(3)
    model = Net()
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
    return {"model": model, "x": tf.random.normal([32, 4], seed=4), "y": tf.ones([32, 1])}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=32, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Mixture of experts with a hard choice; the helper that chooses lives in another file"
KIND = "none"
MODE = "fit"
EXPECT = {"router": "none", "expert_": "ok", "out": "ok"}
CAUSE = "The router's scores only choose by argmax; its weights get no gradient."
CAUSE_FILE = "routing.py"
CAUSE_LINE = "best = tf.math.argmax(scores, axis=-1)"
CAUSE_OP = "ArgMax"
REASONS = ["argmax"]
FIX_FILE = "routing.py"
FIX = [
    ("    best = tf.math.argmax(scores, axis=-1)\n", ""),
    ("tf.one_hot(best, scores.shape[-1])", "tf.nn.softmax(scores)"),
]
