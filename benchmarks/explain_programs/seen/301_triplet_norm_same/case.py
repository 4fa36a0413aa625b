import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(301)
    net = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu", name="e1"),
                            keras.layers.Dense(4, name="e2")])
    rng = np.random.default_rng(31)
    anchor = rng.normal(size=(6, 8)).astype("float32")
    positive = anchor + 0.05 * rng.normal(size=(6, 8)).astype("float32")
    positive[4] = anchor[4]                      # class with one picture
    negative = rng.normal(size=(6, 8)).astype("float32")
    return {"net": net, "data": (anchor, positive, negative), "opt": keras.optimizers.Adam(1e-3)}


def triplet(net, a, p, n, margin=1.0):
    ea, ep, en = net(a), net(p), net(n)
    d_pos = tf.norm(ea - ep, axis=1)
    d_neg = tf.norm(ea - en, axis=1)
    return tf.reduce_mean(tf.nn.relu(d_pos - d_neg + margin))


def step(state):
    net = state["net"]
    with tf.GradientTape() as tape:
        loss = triplet(net, *state["data"], margin=4.0)
    grads = tape.gradient(loss, net.trainable_variables)
    state["opt"].apply(grads, net.trainable_variables)
    return grads, net.trainable_variables


# ---- answers ----
TITLE = "Triplet loss: anchor and positive are the same picture"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/12071"
KIND = "nan"
MODE = "eager"
EXPECT = {"e1": "nan", "e2": "nan"}
CAUSE = "The norm of a zero difference: sqrt'(0) = inf times 0."
CAUSE_LINE = "d_pos = tf.norm(ea - ep, axis=1)"
CAUSE_OP = "Sqrt"
FIX = [("d_pos = tf.norm(ea - ep, axis=1)", "d_pos = tf.sqrt(tf.reduce_sum(tf.square(ea - ep), 1) + 1e-8)")]
