import numpy as np
import tensorflow as tf
import tf_keras


def euclidean(pair):
    a, b = pair
    return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=1, keepdims=True))


def contrastive(y, d):
    y = tf.cast(y, d.dtype)
    return tf.reduce_mean(y * tf.square(d) + (1.0 - y) * tf.square(tf.maximum(1.0 - d, 0.0)))


def build():
    tf_keras.utils.set_random_seed(315)
    base = tf_keras.Sequential([tf_keras.layers.Dense(8, activation="relu", name="s1"),
                                tf_keras.layers.Dense(3, use_bias=False, name="s2")])
    a, b = tf_keras.Input((6,)), tf_keras.Input((6,))
    d = tf_keras.layers.Lambda(euclidean, name="dist")([base(a), base(b)])
    model = tf_keras.Model([a, b], d)
    model.compile(optimizer=tf_keras.optimizers.Adam(1e-3), loss=contrastive)
    rng = np.random.default_rng(315)
    left = rng.normal(size=(24, 6)).astype("float32")
    right = rng.normal(size=(24, 6)).astype("float32")
    right[21] = left[21]
    y = rng.integers(0, 2, (24, 1))
    y[21] = 0                                     # same photo under two names
    return {"model": model, "x": [left, right], "y": y}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
REQUIRES = "tf_keras"
TITLE = "tf_keras Siamese network: the same photo is labelled as two people"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/4914"
KIND = "nan"
MODE = "fit"
EXPECT = {"s1": "nan", "s2": "nan"}
CAUSE = "The distance of identical inputs is sqrt(0), whose derivative is infinite."
CAUSE_LINE = "return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=1, keepdims=True))"
CAUSE_OP = "Sqrt"
FIX = [("axis=1, keepdims=True))", "axis=1, keepdims=True) + 1e-9)")]
