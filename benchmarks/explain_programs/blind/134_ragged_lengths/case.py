import numpy as np
import tensorflow as tf


def build():
    w = tf.Variable(tf.random.stateless_normal([4, 1], [34, 1]), name="w")
    rate = tf.Variable(0.5, name="rate")
    x = tf.constant(np.random.default_rng(34).normal(size=(5, 8, 4)), tf.float32)
    want = tf.constant([3.0, 4.0, 2.0, 5.0, 4.0])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            speech = tf.sigmoid(tf.squeeze(tf.matmul(x, w), -1))
            kept = tf.ragged.boolean_mask(speech, speech > 0.5)
            voiced = tf.cast(kept.row_lengths(), tf.float32)
            loss = tf.reduce_mean(tf.square(rate * voiced - want))
        return tape.gradient(loss, [w, rate])

    return {"vars": [w, rate], "train_step": train_step}


def step(state):
    return state["train_step"](), state["vars"]


# ---- answers ----
TITLE = "Number of voiced frames from the row lengths of a ragged tensor"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/46956"
KIND = "none"
MODE = "function"
EXPECT = {"w": "none", "rate": "ok"}
CAUSE = "Row lengths are integers found from a boolean mask; nothing leads back to the detector."
CAUSE_LINE = "kept = tf.ragged.boolean_mask(speech, speech > 0.5)"
CAUSE_OP = "Greater"
FIX = [("voiced = tf.cast(kept.row_lengths(), tf.float32)", "voiced = tf.reduce_sum(kept, axis=1)")]
