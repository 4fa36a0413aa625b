import keras
import numpy as np
import tensorflow as tf


class StatsPooling(keras.layers.Layer):
    """Mean and deviation over time, as in x-vectors."""

    def call(self, x):
        mean = tf.reduce_mean(x, axis=1)
        std = tf.math.reduce_std(x, axis=1)
        return tf.concat([mean, std], axis=-1)

    def compute_output_shape(self, shape):
        return (shape[0], 2 * shape[-1])


def build():
    keras.utils.set_random_seed(321)
    inp = keras.Input((20, 5))
    h = keras.layers.Conv1D(8, 3, activation="tanh", name="tdnn1")(inp)
    h = keras.layers.Conv1D(8, 3, activation="tanh", name="tdnn2")(h)
    h = StatsPooling(name="pooling")(h)
    h = keras.layers.Dense(8, activation="tanh", name="segment")(h)
    model = keras.Model(inp, keras.layers.Dense(3, activation="softmax", name="speaker")(h))
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
    rng = np.random.default_rng(321)
    x = rng.normal(size=(40, 20, 5)).astype("float32")
    x[36] = 0.0                                   # muted recording
    return {"model": model, "x": x, "y": rng.integers(0, 3, 40)}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "x-vector statistics pooling on a muted recording"
SOURCE = "https://github.com/lsdefine/attention-is-all-you-need-keras/issues/13"
KIND = "nan"
MODE = "fit"
EXPECT_FIRST = {"tdnn": "ok", "segment": "ok", "speaker": "ok"}
EXPECT = {"tdnn": "nan", "segment": "ok", "speaker": "ok"}
CAUSE = "All frames are equal, the deviation is sqrt(0), whose derivative is infinite."
CAUSE_LINE = "std = tf.math.reduce_std(x, axis=1)"
CAUSE_OP = "Sqrt"
FIX = [("std = tf.math.reduce_std(x, axis=1)", "std = tf.sqrt(tf.math.reduce_variance(x, axis=1) + 1e-6)")]
