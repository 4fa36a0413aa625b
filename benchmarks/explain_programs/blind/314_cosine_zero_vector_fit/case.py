import keras
import numpy as np
import tensorflow as tf


def unit(v):
    return v / tf.norm(v, axis=-1, keepdims=True)


def build():
    keras.utils.set_random_seed(314)
    user, item = keras.Input((7,), name="user"), keras.Input((7,), name="item")
    u = keras.layers.Dense(5, activation="relu", use_bias=False, name="utower")(user)
    i = keras.layers.Dense(5, activation="relu", use_bias=False, name="itower")(item)
    sim = keras.layers.Lambda(lambda p: tf.reduce_sum(unit(p[0]) * unit(p[1]), -1, keepdims=True), name="cos")([u, i])
    model = keras.Model([user, item], keras.layers.Dense(1, activation="sigmoid", name="click")(sim))
    model.compile(optimizer="adam", loss="binary_crossentropy")
    rng = np.random.default_rng(314)
    a, b = rng.uniform(0, 1, (40, 7)).astype("float32"), rng.uniform(0, 1, (40, 7)).astype("float32")
    a[19] = 0.0                                   # new user without history
    return {"model": model, "x": [a, b], "y": rng.integers(0, 2, (40, 1)).astype("float32")}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Two-tower recommender: a user without history has a zero vector"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/42889"
KIND = "nan"
MODE = "fit"
EXPECT = {"utower": "nan", "itower": "nan", "click": "nan"}
CAUSE = "The vector of norm 0 is divided by its norm: 0/0."
CAUSE_LINE = "return v / tf.norm(v, axis=-1, keepdims=True)"
CAUSE_OP = "RealDiv"
FIX = [("return v / tf.norm(v, axis=-1, keepdims=True)", "return v / tf.sqrt(tf.reduce_sum(tf.square(v), -1, keepdims=True) + 1e-8)")]
