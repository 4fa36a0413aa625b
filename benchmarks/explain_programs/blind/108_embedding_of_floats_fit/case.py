import keras
import numpy as np
import tensorflow as tf


def build():
    keras.utils.set_random_seed(108)
    inp = keras.Input((9,), name="sensor")
    h = keras.layers.Dense(16, activation="relu", name="front")(inp)
    code = keras.layers.Dense(4, activation="sigmoid", name="code")(h)
    bins = keras.layers.Lambda(lambda t: t * 19.0, name="to_bins")(code)
    emb = keras.layers.Embedding(20, 6, name="table")(bins)
    h = keras.layers.Flatten()(emb)
    out = keras.layers.Dense(1, name="out")(h)
    model = keras.Model(inp, out)
    model.compile(optimizer="adam", loss="mse")
    rng = np.random.default_rng(8)
    return {"model": model, "x": rng.normal(size=(24, 9)).astype("float32"),
            "y": rng.normal(size=(24, 1)).astype("float32")}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "A learned float is used as an index into an Embedding"
SOURCE = "https://github.com/keras-team/keras/issues/12270"
KIND = "none"
MODE = "fit"
EXPECT = {"front": "none", "code": "none", "table": "ok", "out": "ok"}
EXPECT_LOG = "Gradients do not exist for variables"
CAUSE = "Embedding casts its input to int32 and looks it up; nothing before it gets a gradient."
CAUSE_LINE = 'keras.layers.Embedding(20, 6, name="table")(bins)'
CAUSE_OP = "Cast"
FIX = [('emb = keras.layers.Embedding(20, 6, name="table")(bins)', 'emb = keras.layers.Dense(6, name="table")(keras.layers.Reshape((4, 1))(bins))')]
