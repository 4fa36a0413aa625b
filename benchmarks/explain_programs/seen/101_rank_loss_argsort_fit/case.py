import keras
import numpy as np
import tensorflow as tf


def order_loss(pad=-1.0, big=1e6):
    def loss(y_true, y_pred):
        y_true = tf.where(y_true == pad, big, y_true)
        wanted = tf.argsort(tf.argsort(y_true, axis=-1), axis=-1)
        got = tf.argsort(tf.argsort(y_pred, axis=-1), axis=-1)
        gap = tf.cast(tf.abs(wanted - got), tf.float32)
        return tf.reduce_sum(gap, axis=-1)

    return loss


def build():
    keras.utils.set_random_seed(101)
    inp = keras.Input((6, 5))
    h = keras.layers.Dense(12, activation="gelu", name="sentence")(inp)
    h = keras.layers.Dropout(0.1)(h)
    score = keras.layers.Flatten()(keras.layers.Dense(1, name="score")(h))
    model = keras.Model(inp, score)
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=order_loss())
    rng = np.random.default_rng(1)
    x = rng.normal(size=(16, 6, 5)).astype("float32")
    y = np.stack([rng.permutation(6) for _ in range(16)]).astype("float32")
    y[3, 4:] = -1.0
    return {"model": model, "x": x, "y": y}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Sentence ordering loss compares argsort ranks"
SOURCE = "https://github.com/keras-team/keras/issues/16663"
KIND = "none"
MODE = "fit"
EXPECT = {"sentence": "none", "score": "none"}
EXPECT_ERROR = "No gradients provided for any variable"
CAUSE = "argsort of the predictions yields integer ranks, which carry no gradient."
CAUSE_LINE = "got = tf.argsort(tf.argsort(y_pred, axis=-1), axis=-1)"
CAUSE_OP = "TopKV2"
FIX = [("got = tf.argsort(tf.argsort(y_pred, axis=-1), axis=-1)", "got = y_pred"),
       ("gap = tf.cast(tf.abs(wanted - got), tf.float32)", "gap = tf.abs(tf.cast(wanted, tf.float32) - got)")]
