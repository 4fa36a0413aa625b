import keras
import numpy as np
import tensorflow as tf


def soft_step(x, alpha=1.0):
    return tf.where(x > 0.0, x, alpha * (tf.exp(x) - 1.0))


def build():
    keras.utils.set_random_seed(303)
    model = keras.Sequential([
        keras.Input((3,)),
        keras.layers.Dense(16, activation=soft_step, name="d1"),
        keras.layers.Dense(8, activation="tanh", name="d2"),
        keras.layers.Dense(1, name="price"),
    ])
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mae")
    rng = np.random.default_rng(33)
    x = np.stack([rng.uniform(0, 1, 32), rng.uniform(20, 400, 32), rng.uniform(1, 5, 32)], 1).astype("float32")
    return {"model": model, "x": x, "y": (x[:, 1:2] * 0.1).astype("float32")}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Home-made ELU overflows in the branch that is not selected"
SOURCE = "https://github.com/keras-team/keras/issues/15912"
KIND = "nan"
MODE = "fit"
EXPECT_FIRST = {"d1": "nan", "d2": "ok", "price": "ok"}
EXPECT = {"d1": "nan", "d2": "nan", "price": "nan"}
CAUSE = "exp(x) is Inf for large positive x; tf.where hides it in the value, but its gradient is 0 * Inf = NaN."
CAUSE_LINE = "return tf.where(x > 0.0, x, alpha * (tf.exp(x) - 1.0))"
CAUSE_OP = "Exp"
FIX = [("tf.exp(x) - 1.0", "tf.exp(tf.minimum(x, 0.0)) - 1.0")]
