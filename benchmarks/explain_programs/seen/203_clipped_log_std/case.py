import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(203)
    body = keras.layers.Dense(16, activation="relu", name="body")
    mean = keras.layers.Dense(2, name="mean")
    log_std = keras.layers.Dense(2, name="log_std", bias_initializer=keras.initializers.Constant(4.0))
    for layer, n in ((body, 5), (mean, 16), (log_std, 16)):
        layer.build((None, n))
    rng = np.random.default_rng(23)
    return {"layers": [body, mean, log_std], "obs": tf.constant(0.1 * rng.normal(size=(24, 5)), tf.float32),
            "act": tf.constant(rng.normal(size=(24, 2)), tf.float32), "opt": keras.optimizers.Adam(3e-4)}


def nll(state):
    body, mean, log_std = state["layers"]
    z = body(state["obs"])
    mu = mean(z)
    ls = tf.clip_by_value(log_std(z), -20.0, 2.0)
    return tf.reduce_mean(0.5 * tf.square((state["act"] - mu) / tf.exp(ls)) + ls)


def step(state):
    variables = [v for layer in state["layers"] for v in layer.trainable_variables]
    with tf.GradientTape() as tape:
        loss = nll(state)
    grads = tape.gradient(loss, variables)
    state["opt"].apply(grads, variables)
    return grads, variables


# ---- answers ----
TITLE = "SAC-style policy: log_std starts outside of its clipping range"
SOURCE = "https://github.com/vanderschaarlab/synthcity/issues/331"
KIND = "zero"
MODE = "eager"
EXPECT = {"kernel": "ok", "bias": "ok", "log_std": "zero"}
CAUSE = "clip_by_value is flat outside of its bounds and every log_std (about 4) is above 2."
CAUSE_LINE = "ls = tf.clip_by_value(log_std(z), -20.0, 2.0)"
CAUSE_OP = "ClipByValue"
FIX = [("keras.initializers.Constant(4.0)", "keras.initializers.Constant(0.0)")]
