import os
import sys

import keras
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from blocks import Encoder


class Ranker(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder(6)
        self.head = keras.layers.Dense(1, name="head")

    def call(self, x):
        return self.head(self.encoder(x))


def build():
    keras.utils.set_random_seed(220)
    model = Ranker()
    model.compile(optimizer=keras.optimizers.AdamW(1e-3), loss="mse", jit_compile=True)
    x = np.random.default_rng(0).normal(size=(6, 5)).astype("float32")
    x[4] = x[4, 0]  # every feature of one item is the same
    return {"model": model, "x": x, "y": np.ones((6, 1), "float32")}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=6, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Subclassed model with a normalising block from another file, under XLA"
KIND = "nan"
MODE = "fit"
EXPECT = {"encoder": "nan", "head": "nan"}
CAUSE = "A row without spread is divided by its standard deviation of 0."
CAUSE_FILE = "blocks.py"
CAUSE_LINE = "return centred / tf.math.reduce_std(x, axis=-1, keepdims=True)"
CAUSE_OP = "RealDiv"
REASONS = ["division_by_zero"]
FIX_FILE = "blocks.py"
FIX = [("/ tf.math.reduce_std(x, axis=-1, keepdims=True)", "/ (tf.math.reduce_std(x + 1e-3 * tf.range(5.0), axis=-1, keepdims=True) + 0.1)")]
