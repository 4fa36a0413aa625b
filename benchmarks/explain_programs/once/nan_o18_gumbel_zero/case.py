import keras
import tensorflow as tf


def gumbel(u):
    return -tf.math.log(-tf.math.log(u))


def build():
    keras.utils.set_random_seed(218)
    head = keras.layers.Dense(4, name="head")
    head.build((None, 3))
    u = tf.constant([[0.3, 0.9, 0.0, 0.5], [0.2, 0.7, 0.4, 1.0]])  # a uniform sample that hit both ends
    return {"head": head, "x": tf.random.normal([2, 3], seed=4), "u": u}


def step(state):
    head = state["head"]
    with tf.GradientTape() as tape:
        soft = tf.nn.softmax((head(state["x"]) + gumbel(state["u"])) / 0.5)
        loss = tf.reduce_sum(soft[:, 0] * soft[:, 1])
    return tape.gradient(loss, head.trainable_variables), head.trainable_variables


# ---- answers ----
TITLE = "Gumbel noise from uniform numbers that include 0 and 1"
KIND = "nan"
MODE = "eager"
EXPECT = {"head": "nan"}
CAUSE = "-log(-log(1)) is -log(0) = +Inf, and softmax over +Inf is NaN."
CAUSE_LINE = "return -tf.math.log(-tf.math.log(u))"
CAUSE_OP = "Log"
REASONS = ["log_of_zero"]
FIX = [("-tf.math.log(-tf.math.log(u))", "-tf.math.log(-tf.math.log(tf.clip_by_value(u, 1e-4, 1 - 1e-4)))")]
