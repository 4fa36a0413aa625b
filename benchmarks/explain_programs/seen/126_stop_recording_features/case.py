import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(126)
    enc = keras.Sequential([keras.Input((7,)), keras.layers.Dense(10, activation="relu", name="enc_a"),
                            keras.layers.Dense(4, name="enc_b")])
    clf = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, name="clf")])
    x = tf.constant(np.random.default_rng(26).normal(size=(18, 7)), tf.float32)
    y = tf.constant(np.random.default_rng(27).integers(0, 3, 18))
    variables = enc.trainable_variables + clf.trainable_variables

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            with tape.stop_recording():
                codes = enc(x, training=True)
                centre = tf.reduce_mean(codes, axis=0)
            logits = clf(codes - centre)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        return tape.gradient(loss, variables)

    return {"variables": variables, "train_step": train_step}


def step(state):
    return state["train_step"](), state["variables"]


# ---- answers ----
TITLE = "The encoder runs inside tape.stop_recording()"
SOURCE = "https://www.tensorflow.org/guide/advanced_autodiff#stop_recording"
KIND = "none"
MODE = "function"
EXPECT = {"enc_a": "none", "enc_b": "none", "clf": "ok"}
CAUSE = "codes are computed while the tape does not record, only the centre should have been."
CAUSE_LINE = "codes = enc(x, training=True)"
CAUSE_OP = "outside_tape"
FIX = [("            with tape.stop_recording():\n                codes = enc(x, training=True)\n",
        "            codes = enc(x, training=True)\n            with tape.stop_recording():\n")]
