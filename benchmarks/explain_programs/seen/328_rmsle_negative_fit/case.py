import keras
import numpy as np
import tensorflow as tf


def rmsle(y_true, y_pred):
    diff = tf.math.log(y_pred + 1.0) - tf.math.log(y_true + 1.0)
    return tf.sqrt(tf.reduce_mean(tf.square(diff)) + 1e-9)


def build():
    keras.utils.set_random_seed(328)
    inp = keras.Input((9,))
    h = keras.layers.BatchNormalization(name="bn")(inp)
    h = keras.layers.Dense(16, activation="relu", name="dense_a")(h)
    h = keras.layers.Dropout(0.2, seed=1)(h)
    model = keras.Model(inp, keras.layers.Dense(1, name="sales")(h))
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=rmsle)
    rng = np.random.default_rng(328)
    return {"model": model, "x": rng.normal(size=(64, 9)).astype("float32"),
            "y": rng.gamma(2.0, 2.0, (64, 1)).astype("float32")}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "RMSLE: a prediction below -1"
SOURCE = "https://github.com/keras-team/keras/issues/6644"
KIND = "nan"
MODE = "fit"
EXPECT = {"bn": "nan", "dense_a": "nan", "sales": "nan"}
CAUSE = "The linear output is below -1 for some sample: the logarithm of a negative number is NaN."
CAUSE_LINE = "diff = tf.math.log(y_pred + 1.0) - tf.math.log(y_true + 1.0)"
CAUSE_OP = "Log"
FIX = [("tf.math.log(y_pred + 1.0)", "tf.math.log(tf.nn.softplus(y_pred) + 1.0)")]
