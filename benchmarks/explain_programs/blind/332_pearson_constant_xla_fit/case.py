import keras
import numpy as np
import tensorflow as tf


def one_minus_pearson(y, p):
    yc = y - tf.reduce_mean(y)
    pc = p - tf.reduce_mean(p)
    cov = tf.reduce_sum(yc * pc)
    spread = tf.sqrt(tf.reduce_sum(tf.square(yc)) * tf.reduce_sum(tf.square(pc)))
    return 1.0 - cov / (spread + 1e-7)


def build():
    keras.utils.set_random_seed(332)
    inp = keras.Input((7,))
    h = keras.layers.Dense(12, activation="relu", name="feat")(inp)
    out = keras.layers.Dense(1, name="mos", use_bias=False, kernel_initializer="zeros")(h)
    model = keras.Model(inp, out)
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=one_minus_pearson, jit_compile=True)
    rng = np.random.default_rng(332)
    return {"model": model, "x": rng.normal(size=(16, 7)).astype("float32"),
            "y": rng.normal(size=(16, 1)).astype("float32")}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Correlation loss while the model still predicts a constant (XLA)"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/42889"
KIND = "nan"
MODE = "fit"
EXPECT = {"feat": "zero", "mos": "nan"}
CAUSE = "The predictions are all 0, their spread is sqrt(0) with an infinite derivative."
CAUSE_LINE = "spread = tf.sqrt(tf.reduce_sum(tf.square(yc)) * tf.reduce_sum(tf.square(pc)))"
CAUSE_OP = "Sqrt"
FIX = [('kernel_initializer="zeros"', 'kernel_initializer="glorot_uniform"')]
