import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(19)
    enc = keras.layers.Dense(3, name="enc")
    head = keras.layers.Dense(1, name="head")
    enc.build((None, 2))
    head.build((None, 3))
    return {"enc": enc, "head": head, "x": tf.random.normal([4, 2], seed=20)}


def step(state):
    variables = state["enc"].trainable_variables + state["head"].trainable_variables
    with tf.GradientTape() as tape:
        h = tf.tanh(state["enc"](state["x"]))
        if float(tf.reduce_max(h)) > 0.0:
            tape.reset()
        loss = tf.reduce_mean(tf.square(state["head"](h) - 1.0))
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "tape.reset() after the encoder has run"
KIND = "none"
MODE = "eager"
EXPECT = {"enc": "none", "head": "ok"}
CAUSE = "reset forgets what the tape recorded so far."
CAUSE_LINE = 'h = tf.tanh(state["enc"](state["x"]))'
CAUSE_LINES = ['h = tf.tanh(state["enc"](state["x"]))', "tape.reset()"]
CAUSE_OP = "outside_tape"
REASONS = ["tape_reset", "outside_tape"]
FIX = [("            tape.reset()\n", "            pass\n")]
