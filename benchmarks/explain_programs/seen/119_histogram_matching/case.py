import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(119)
    net = keras.Sequential([keras.Input((2,)), keras.layers.Dense(16, activation="tanh", name="flow1"),
                            keras.layers.Dense(1, name="flow2")])
    noise = tf.random.stateless_normal([200, 2], [19, 1])
    data = tf.random.stateless_normal([200], [19, 2]) * 0.5 + 1.0
    lo, hi, bins = -3.0, 3.0, 12
    wanted = tf.cast(tf.histogram_fixed_width(data, [lo, hi], bins), tf.float32) / 200.0

    def density(v):
        counts = tf.histogram_fixed_width(v, [lo, hi], nbins=bins)
        return tf.cast(counts, tf.float32) / tf.cast(tf.size(v), tf.float32)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            sample = tf.reshape(net(noise, training=True), [-1])
            loss = tf.reduce_sum(tf.abs(density(sample) - wanted))
        return tape.gradient(loss, net.trainable_variables)

    return {"net": net, "train_step": train_step}


def step(state):
    return state["train_step"](), state["net"].trainable_variables


# ---- answers ----
TITLE = "Histogram of the generated samples as a loss"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/46956"
KIND = "none"
MODE = "function"
EXPECT = {"flow1": "none", "flow2": "none"}
CAUSE = "histogram_fixed_width turns values into integer bins and counts them, which has no gradient."
CAUSE_LINE = "counts = tf.histogram_fixed_width(v, [lo, hi], nbins=bins)"
CAUSE_OP = "HistogramFixedWidth"
FIX = [("counts = tf.histogram_fixed_width(v, [lo, hi], nbins=bins)",
        "counts = tf.reduce_sum(tf.exp(-tf.square((v[:, None] - tf.linspace(lo, hi, bins)) / 0.5)), 0)")]
