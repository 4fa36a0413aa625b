import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(323)
    body = keras.layers.Dense(12, activation="relu", name="body")
    mu_head = keras.layers.Dense(1, activation="softplus", name="mu")
    r_head = keras.layers.Dense(1, activation="relu", name="dispersion")
    body.build((None, 4)); mu_head.build((None, 12)); r_head.build((None, 12))
    rng = np.random.default_rng(323)
    return {"parts": (body, mu_head, r_head), "x": tf.constant(rng.normal(size=(20, 4)), tf.float32),
            "count": tf.constant(rng.poisson(3.0, (20, 1)), tf.float32)}


def negative_binomial(k, mu, r):
    like = tf.math.lgamma(k + r) - tf.math.lgamma(r)
    like -= tf.math.lgamma(k + 1.0)
    like += r * tf.math.log((r + 1e-5) / (r + mu + 1e-5)) + k * tf.math.log((mu + 1e-5) / (r + mu + 1e-5))
    return -tf.reduce_mean(like)


def step(state):
    body, mu_head, r_head = state["parts"]
    variables = body.trainable_variables + mu_head.trainable_variables + r_head.trainable_variables
    with tf.GradientTape() as tape:
        z = body(state["x"])
        loss = negative_binomial(state["count"], mu_head(z), r_head(z))
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "Negative binomial regression: a dispersion of 0 from a ReLU"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/7474"
KIND = "nan"
MODE = "eager"
EXPECT = {"body": "nan", "dispersion": "nan", "mu/": "ok"}
CAUSE = "lgamma(0) is Inf and its derivative digamma(0) is not finite."
CAUSE_LINE = "like = tf.math.lgamma(k + r) - tf.math.lgamma(r)"
CAUSE_OP = "Lgamma"
FIX = [('r_head = keras.layers.Dense(1, activation="relu", name', 'r_head = keras.layers.Dense(1, activation="softplus", name')]
