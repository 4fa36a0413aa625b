import math

import tensorflow as tf


def build():
    return {
        "sigma": tf.Variable(0.8, name="sigma"),
        "mu": tf.Variable(0.2, name="mu"),
        "x": tf.constant([0.1, 0.9, -0.4]),
    }


def log_likelihood(x, mu, sigma):
    norm = math.log(sigma * 2.5066)
    return tf.reduce_mean(-0.5 * tf.square(x - mu)) - norm


def step(state):
    variables = [state["sigma"], state["mu"]]
    with tf.GradientTape() as tape:
        loss = -log_likelihood(state["x"], state["mu"], state["sigma"])
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "math.log of a tensor gives a Python float"
KIND = "none"
MODE = "eager"
EXPECT = {"sigma": "none", "mu": "ok"}
CAUSE = "The math module works on Python floats."
CAUSE_LINE = "norm = math.log(sigma * 2.5066)"
CAUSE_OP = "numpy"
REASONS = ["numpy"]
FIX = [("math.log(sigma * 2.5066)", "tf.math.log(sigma * 2.5066)")]
