import keras
import numpy as np
import tensorflow as tf


def build():
    keras.utils.set_random_seed(320)
    inp = keras.Input((10, 6))
    h = keras.layers.LayerNormalization(epsilon=0.0, name="ln")(inp)
    h = keras.layers.Bidirectional(keras.layers.LSTM(5, name="cell"), name="bi")(h)
    model = keras.Model(inp, keras.layers.Dense(1, name="end")(h))
    model.compile(optimizer="adam", loss="mse")
    rng = np.random.default_rng(320)
    x = rng.normal(size=(16, 10, 6)).astype("float32")
    x[11, 7:] = 0.0                               # padded tail
    return {"model": model, "x": x, "y": rng.normal(size=(16, 1)).astype("float32")}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "LayerNormalization without epsilon on padded frames"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/61287"
KIND = "nan"
MODE = "fit"
EXPECT_FIRST = {"ln": "ok", "bi": "ok", "end": "ok"}
EXPECT = {"ln": "nan", "bi": "nan", "end": "nan"}
CAUSE = "The variance of an all-zero frame is 0 and epsilon is 0: rsqrt(0) = Inf, Inf * 0 = NaN."
CAUSE_LINE = 'keras.layers.LayerNormalization(epsilon=0.0, name="ln")(inp)'
CAUSE_OP = "Rsqrt"
FIX = [("epsilon=0.0", "epsilon=1e-3")]
