import tensorflow as tf


def build():
    centre = tf.Variable([0.0, 1.0], trainable=False, name="centre")
    width = tf.Variable([1.0, 2.0], name="width")
    return {"vars": [centre, width], "x": tf.constant([[0.2, 0.4], [1.5, 0.3]])}


def step(state):
    centre, width = state["vars"]
    with tf.GradientTape() as tape:
        d = (state["x"] - centre) * width
        loss = tf.reduce_mean(tf.exp(-tf.square(d)))
    return tape.gradient(loss, state["vars"]), state["vars"]


# ---- answers ----
TITLE = "A variable made with trainable=False is handed to gradient"
KIND = "none"
MODE = "eager"
EXPECT = {"centre": "none", "width": "ok"}
CAUSE = "A tape does not watch a variable that is not trainable."
CAUSE_LINE = 'tf.Variable([0.0, 1.0], trainable=False, name="centre")'
CAUSE_OP = "not_trainable"
REASONS = ["not_trainable"]
FIX = [("trainable=False, ", "")]
