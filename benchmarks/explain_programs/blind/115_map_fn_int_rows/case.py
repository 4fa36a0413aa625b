import numpy as np
import tensorflow as tf


def build():
    w = tf.Variable(tf.random.stateless_normal([7, 7], [1, 15]), name="w")
    b = tf.Variable(tf.zeros([7]), name="b")
    x = tf.constant(np.random.default_rng(15).normal(size=(9, 7)), tf.float32)
    peaks = tf.constant(np.random.default_rng(16).integers(1, 5, 9), tf.float32)
    return {"vars": [w, b], "x": x, "peaks": peaks}


def count_peaks(row):
    mid, left, right = row[1:-1], row[:-2], row[2:]
    is_peak = tf.logical_and(mid > left, mid > right)
    return tf.reduce_sum(tf.cast(is_peak, tf.int32))


def step(state):
    w, b = state["vars"]
    with tf.GradientTape() as tape:
        signal = tf.tanh(tf.matmul(state["x"], w) + b)
        found = tf.map_fn(count_peaks, signal, fn_output_signature=tf.int32)
        loss = tf.reduce_mean(tf.square(tf.cast(found, tf.float32) - state["peaks"]))
    return tape.gradient(loss, [w, b]), [w, b]


# ---- answers ----
TITLE = "Peaks per row are counted with map_fn"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/62174"
KIND = "none"
MODE = "eager"
EXPECT = {"w": "none", "b": "none"}
CAUSE = "A comparison yields booleans; counting them is not differentiable."
CAUSE_LINE = "is_peak = tf.logical_and(mid > left, mid > right)"
CAUSE_OP = "Greater"
FIX = [("    is_peak = tf.logical_and(mid > left, mid > right)\n", ""),
       ("tf.reduce_sum(tf.cast(is_peak, tf.int32))", "tf.reduce_sum(tf.sigmoid(5.0 * (mid - left)) * tf.sigmoid(5.0 * (mid - right)))"),
       ("fn_output_signature=tf.int32", "fn_output_signature=tf.float32")]
