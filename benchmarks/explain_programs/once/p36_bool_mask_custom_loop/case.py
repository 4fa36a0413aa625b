import keras
import tensorflow as tf


class Pruner:
    def __init__(self):
        self.importance = tf.Variable([0.2, 0.9, 0.6], name="importance")
        self.weight = tf.Variable([1.0, -1.0, 0.5], name="weight")

    def __call__(self, x):
        threshold = tf.sort(self.importance)[1]
        keep = tf.cast(self.importance >= threshold, x.dtype)
        return tf.reduce_sum(x * self.weight * keep, -1)


def build():
    return {"pruner": Pruner(), "x": tf.constant([[1.0, 2.0, 3.0], [0.5, 0.1, -1.0]])}


def step(state):
    p = state["pruner"]
    variables = [p.importance, p.weight]
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(keras.ops.square(p(state["x"]) - 1.0))
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "Pruning by a hard mask made of an importance score"
KIND = "none"
MODE = "eager"
EXPECT = {"importance": "none", "weight": "ok"}
CAUSE = "The comparison cuts the importance off."
CAUSE_LINE = "keep = tf.cast(self.importance >= threshold, x.dtype)"
CAUSE_OP = "GreaterEqual"
REASONS = ["comparison"]
FIX = [("tf.cast(self.importance >= threshold, x.dtype)", "tf.sigmoid(9.0 * (self.importance - threshold))")]
