import keras
import numpy as np
import tensorflow as tf

PAD = 0


def masked_ce(y_true, y_pred):
    y_true = tf.cast(y_true, tf.int32)
    real = tf.cast(tf.not_equal(y_true, PAD), tf.float32)
    ce = keras.losses.sparse_categorical_crossentropy(y_true, y_pred)
    return tf.reduce_sum(ce * real) / tf.reduce_sum(real)


def build():
    keras.utils.set_random_seed(307)
    model = keras.Sequential([
        keras.Input((8,), dtype="int32"),
        keras.layers.Embedding(30, 12, name="emb"),
        keras.layers.GRU(12, return_sequences=True, name="gru"),
        keras.layers.Dense(30, activation="softmax", name="next"),
    ])
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=masked_ce)
    rng = np.random.default_rng(37)
    tokens = rng.integers(1, 30, (40, 9))
    tokens[28:32, 1:] = PAD                      # sentences of one word
    return {"model": model, "x": tokens[:, :-1], "y": tokens[:, 1:], "batch": 4}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Language model: one batch consists of padding only"
SOURCE = "https://github.com/keras-team/keras/issues/6644"
KIND = "nan"
MODE = "fit"
EXPECT_FIRST = {"emb": "ok", "gru": "ok", "next": "ok"}
EXPECT = {"emb": "nan", "gru": "nan", "next": "nan"}
CAUSE = "In the eighth batch no target is a real token: 0 / 0."
CAUSE_LINE = "return tf.reduce_sum(ce * real) / tf.reduce_sum(real)"
CAUSE_OP = "RealDiv"
FIX = [("/ tf.reduce_sum(real)", "/ tf.maximum(tf.reduce_sum(real), 1.0)")]
