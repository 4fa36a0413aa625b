import keras
import numpy as np
import tensorflow as tf


class PoolAttention(keras.layers.Layer):
    def build(self, shape):
        self.q = self.add_weight(shape=(shape[0][-1], 1), initializer="glorot_uniform", name="q")

    def call(self, inputs):
        seq, length = inputs
        scores = tf.squeeze(tf.matmul(seq, self.q), -1)
        valid = tf.sequence_mask(tf.cast(tf.squeeze(length, -1), tf.int32), tf.shape(seq)[1])
        scores = tf.where(valid, scores, tf.constant(float("-inf")))
        alpha = tf.nn.softmax(scores, axis=-1)
        return tf.einsum("bt,btd->bd", alpha, seq)

    def compute_output_shape(self, shapes):
        return (shapes[0][0], shapes[0][-1])


def build():
    keras.utils.set_random_seed(329)
    seq, length = keras.Input((6, 5)), keras.Input((1,))
    h = keras.layers.Dense(8, activation="tanh", name="word")(seq)
    h = PoolAttention(name="pool")([h, length])
    model = keras.Model([seq, length], keras.layers.Dense(1, name="rating")(h))
    model.compile(optimizer="sgd", loss="mse")
    rng = np.random.default_rng(329)
    n = rng.integers(1, 7, (32, 1))
    n[26] = 0                                     # an empty review
    return {"model": model, "x": [rng.normal(size=(32, 6, 5)).astype("float32"), n.astype("float32")],
            "y": rng.normal(size=(32, 1)).astype("float32")}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Attention pooling over an empty review"
SOURCE = "https://github.com/lsdefine/attention-is-all-you-need-keras/issues/13"
KIND = "nan"
MODE = "fit"
EXPECT_FIRST = {"word": "ok", "pool": "ok", "rating": "ok"}
EXPECT = {"word": "nan", "pool": "ok", "rating": "nan"}
CAUSE = "All scores of the empty review are -inf; softmax over them is NaN."
CAUSE_LINE = "alpha = tf.nn.softmax(scores, axis=-1)"
CAUSE_OP = "Softmax"
FIX = [('tf.constant(float("-inf"))', 'tf.constant(-1e9)')]
