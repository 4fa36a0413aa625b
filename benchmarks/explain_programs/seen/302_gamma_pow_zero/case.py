import numpy as np
import tensorflow as tf


def build():
    gain = tf.Variable([1.1, 0.9, 1.0], name="gain")
    lift = tf.Variable([0.0, 0.0, 0.0], name="lift")
    rng = np.random.default_rng(32)
    img = rng.uniform(0, 1, (2, 6, 6, 3)).astype("float32")
    img[:, :2] = 0.0                             # black bar at the top
    want = np.clip(img * 1.2, 0, 1) ** (1 / 2.4)
    img, want = tf.constant(img), tf.constant(want.astype("float32"))

    def to_srgb(lin):
        y = tf.minimum(tf.maximum(lin, 0.0), 1.0)
        return tf.pow(y, 1.0 / 2.4)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            out = to_srgb(img * gain + lift)
            loss = tf.reduce_mean(tf.abs(out - want))
            loss += 0.01 * tf.reduce_mean(out)
        grads = tape.gradient(loss, [gain, lift])
        gain.assign_sub(0.01 * grads[0])
        lift.assign_sub(0.01 * grads[1])
        return grads

    return {"vars": [gain, lift], "train_step": train_step}


def step(state):
    return state["train_step"](), state["vars"]


# ---- answers ----
TITLE = "Gamma correction of black pixels"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/2295"
KIND = "nan"
MODE = "function"
EXPECT = {"gain": "nan", "lift": "inf"}
CAUSE = "The derivative of y**(1/2.4) is infinite at y = 0 (black pixels)."
CAUSE_LINE = "return tf.pow(y, 1.0 / 2.4)"
CAUSE_OP = "Pow"
FIX = [("return tf.pow(y, 1.0 / 2.4)", "return tf.pow(tf.maximum(y, 1e-4), 1.0 / 2.4)")]
