import numpy as np
import tensorflow as tf


def build():
    rng = np.random.default_rng(402)
    w = tf.Variable(rng.normal(size=(6, 48)) * 0.3, dtype=tf.float32, name="w")
    b = tf.Variable(tf.zeros([48]), name="b")
    code = tf.constant(rng.normal(size=(5, 6)), tf.float32)
    photo = tf.constant(rng.uniform(size=(5, 4, 4, 3)), tf.float32)
    return {"vars": [w, b], "code": code, "photo": photo}


def decode(state):
    w, b = state["vars"]
    hsv = tf.sigmoid(tf.matmul(state["code"], w) + b)
    return tf.image.hsv_to_rgb(tf.reshape(hsv, [-1, 4, 4, 3]))


def step(state):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(decode(state) - state["photo"]))
    return tape.gradient(loss, state["vars"]), state["vars"]


# ---- answers ----
TITLE = "Decoder paints in HSV and is compared in RGB"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/7641"
KIND = "none"
MODE = "eager"
EXPECT = {"w": "none", "b": "none"}
CAUSE = "HSVToRGB is registered as not differentiable."
CAUSE_LINE = "return tf.image.hsv_to_rgb(tf.reshape(hsv, [-1, 4, 4, 3]))"
CAUSE_OP = "HSVToRGB"
FIX = [("return tf.image.hsv_to_rgb(tf.reshape(hsv, [-1, 4, 4, 3]))", "return tf.reshape(hsv, [-1, 4, 4, 3])")]
