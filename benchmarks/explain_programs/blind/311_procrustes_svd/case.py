import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(311)
    net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="tanh", name="k1"),
                            keras.layers.Dense(9, name="k2", kernel_initializer="zeros",
                                               bias_initializer=lambda s, dtype=None: tf.reshape(tf.eye(3), [9]))])
    rng = np.random.default_rng(311)
    pts = tf.constant(rng.normal(size=(20, 3)), tf.float32)
    return {"net": net, "x": tf.constant(rng.normal(size=(2, 3)), tf.float32), "pts": pts, "ref": tf.roll(pts, 1, 1)}


def rotation(m):
    s, u, v = tf.linalg.svd(tf.reshape(m, [-1, 3, 3]))
    return tf.matmul(u, v, transpose_b=True)


def step(state):
    net = state["net"]
    with tf.GradientTape() as tape:
        r = rotation(net(state["x"]))
        moved = tf.einsum("bij,nj->bni", r, state["pts"])
        loss = tf.reduce_mean(tf.square(moved - state["ref"]))
    return tape.gradient(loss, net.trainable_variables), net.trainable_variables


# ---- answers ----
TITLE = "Rotation head projected with an SVD, started at the identity"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/17476"
KIND = "zero"
MODE = "eager"
EXPECT = {"k1": "zero", "k2": "zero"}
CAUSE = "The three singular values are equal; the gradient of svd uses 1/(s_i^2 - s_j^2) with a safe reciprocal, so it answers exactly 0 (NaN when reported)."
CAUSE_LINE = "s, u, v = tf.linalg.svd(tf.reshape(m, [-1, 3, 3]))"
CAUSE_OP = "Svd"
FIX = [('kernel_initializer="zeros"', 'kernel_initializer="glorot_uniform"')]
