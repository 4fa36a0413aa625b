import keras
import numpy as np
import tensorflow as tf


def block(x, units, i):
    h = keras.layers.LayerNormalization(name=f"ln{i}")(x)
    h = keras.layers.Dense(units * 2, activation="gelu", name=f"wide{i}")(h)
    h = keras.layers.Dense(units, name=f"narrow{i}")(h)
    return keras.layers.Add(name=f"add{i}")([x, h])


def build():
    keras.utils.set_random_seed(129)
    inp = keras.Input((16,))
    h = keras.layers.Dense(12, name="stem")(inp)
    for i in range(6):
        h = block(h, 12, i)
    h = keras.layers.Lambda(lambda t: tf.math.floor(t * 16.0) / 16.0, name="grid")(h)
    for i in range(6, 9):
        h = block(h, 12, i)
    out = keras.layers.Dense(4, activation="softmax", name="probs")(h)
    model = keras.Model(inp, out)
    model.compile(optimizer=keras.optimizers.AdamW(1e-3), loss="sparse_categorical_crossentropy")
    rng = np.random.default_rng(129)
    return {"model": model, "x": rng.normal(size=(16, 16)).astype("float32"), "y": rng.integers(0, 4, 16)}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Residual stack of 40 layers with a fixed-point grid in the middle"
SOURCE = "https://github.com/keras-team/keras/issues/11157"
KIND = "none"
MODE = "fit"
EXPECT = {"stem": "none", "ln": "none", "wide": "none", "narrow": "none", "probs": "ok",
          "ln6": "ok", "ln7": "ok", "ln8": "ok", "wide6": "ok", "wide7": "ok", "wide8": "ok",
          "narrow6": "ok", "narrow7": "ok", "narrow8": "ok"}
EXPECT_LOG = "Gradients do not exist for variables"
CAUSE = "tf.math.floor has a registered gradient of None."
CAUSE_LINE = "lambda t: tf.math.floor(t * 16.0) / 16.0"
CAUSE_OP = "Floor"
FIX = [("lambda t: tf.math.floor(t * 16.0) / 16.0", "lambda t: t + tf.stop_gradient(tf.math.floor(t * 16.0) / 16.0 - t)")]
