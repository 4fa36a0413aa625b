import keras
import numpy as np
import tensorflow as tf


@keras.saving.register_keras_serializable()
class MaskedMean(keras.layers.Layer):
    def call(self, inputs):
        tokens, mask = inputs
        total = tf.reduce_sum(tokens * mask[:, :, None], axis=1)
        count = tf.reduce_sum(mask, axis=1, keepdims=True)
        return total / count


def build():
    keras.utils.set_random_seed(103)
    tokens = keras.Input((5, 3), name="tokens")
    mask = keras.Input((5,), name="mask")
    hidden = keras.layers.Dense(4, activation="relu", name="embed")(tokens)
    pooled = MaskedMean(name="pool")([hidden, mask])
    out = keras.layers.Dense(1, name="score")(pooled)
    model = keras.Model([tokens, mask], out)
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", jit_compile=True)
    rng = np.random.default_rng(4)
    masks = np.array([[1, 1, 0, 0, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]], "float32")
    return {"model": model, "x": [rng.normal(size=(4, 5, 3)).astype("float32"), masks], "y": np.ones((4, 1), "float32")}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=4, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Mean over the unmasked tokens of an empty sentence, under XLA"
KIND = "nan"
MODE = "fit"
EXPECT = {"embed": "nan", "score": "nan"}
CAUSE = "A sentence without a token has count 0: 0 / 0 is NaN."
CAUSE_LINE = "return total / count"
CAUSE_OP = "RealDiv"
REASONS = ["division_by_zero"]
FIX = [("return total / count", "return total / tf.maximum(count, 1.0)")]
