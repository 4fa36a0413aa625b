import keras
import numpy as np
import tensorflow as tf


def build():
    keras.utils.set_random_seed(312)
    inp = keras.Input((6,))
    h = keras.layers.Dense(16, activation="relu", name="f1")(inp)
    logits = keras.layers.Dense(4, name="f2")(h)
    e = keras.layers.Lambda(lambda t: tf.exp(t), name="exp")(logits)
    z = keras.layers.Lambda(lambda t: tf.reduce_sum(t, axis=-1, keepdims=True), name="sum")(e)
    probs = keras.layers.Lambda(lambda t: t[0] / t[1], name="norm")([e, z])
    model = keras.Model(inp, probs)
    model.compile(optimizer="adam", loss="categorical_crossentropy")
    rng = np.random.default_rng(312)
    x = (rng.uniform(0, 255, (24, 6))).astype("float32")
    return {"model": model, "x": x, "y": np.eye(4, dtype="float32")[rng.integers(0, 4, 24)]}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Softmax by hand on pixel values"
SOURCE = "https://stackoverflow.com/questions/40050397/deep-learning-nan-loss-reasons"
KIND = "nan"
MODE = "fit"
EXPECT = {"f1": "nan", "f2": "nan"}
CAUSE = "exp of logits above 89 is Inf; Inf / Inf is NaN already in the forward pass."
CAUSE_LINE = "keras.layers.Lambda(lambda t: tf.exp(t), name=\"exp\")(logits)"
CAUSE_OP = "Exp"
FIX = [("lambda t: tf.exp(t)", "lambda t: tf.exp(t - tf.reduce_max(t, axis=-1, keepdims=True))")]
