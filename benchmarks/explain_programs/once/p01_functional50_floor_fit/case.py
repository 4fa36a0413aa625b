import os
import sys

import keras
import tensorflow as tf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from quantise import Quantise


def tower(inputs, depth, width, prefix):
    h = inputs
    for i in range(depth):
        r = keras.layers.Dense(width, activation="gelu", name=f"{prefix}{i}_up")(h)
        r = keras.layers.Dense(width, name=f"{prefix}{i}_down")(r)
        h = keras.layers.Add()([h, r]) if i else r
        h = keras.layers.LayerNormalization(name=f"{prefix}{i}_norm")(h)
    return h


def build():
    keras.utils.set_random_seed(1)
    inp = keras.Input((6,))
    h = tower(inp, 10, 6, "lower")
    h = Quantise(name="quantise")(h)
    h = tower(h, 6, 6, "upper")
    model = keras.Model(inp, keras.layers.Dense(1, name="score")(h))
    model.compile(optimizer=keras.optimizers.Adam(1e-4), loss="mae")
    return {"model": model, "x": tf.random.normal([8, 6], seed=2), "y": tf.ones([8, 1])}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=8, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Functional model of fifty layers with a quantising layer from another file in its middle"
KIND = "none"
MODE = "fit"
EXPECT = {"lower": "none", "upper": "ok", "score": "ok"}
CAUSE = "floor has no gradient; everything below the quantiser is cut off."
CAUSE_FILE = "quantise.py"
CAUSE_LINE = "level = tf.math.floor(scaled)"
CAUSE_OP = "Floor"
REASONS = ["rounding"]
FIX_FILE = "quantise.py"
FIX = [("level = tf.math.floor(scaled)", "level = scaled + tf.stop_gradient(tf.math.floor(scaled) - scaled)")]
