import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(37)
    base = keras.layers.Dense(4, activation="relu", name="base")
    head = keras.layers.Dense(1, name="head")
    base.build((None, 3))
    head.build((None, 4))
    base.trainable = False
    return {"base": base, "head": head, "x": tf.random.normal([5, 3], seed=38)}


def step(state):
    variables = state["base"].variables + state["head"].variables
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(state["head"](state["base"](state["x"])) - 1.0))
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "A frozen layer's variables are handed over all the same"
KIND = "none"
MODE = "eager"
EXPECT = {"base": "none", "head": "ok"}
CAUSE = "base.trainable = False: the tape does not watch its variables."
CAUSE_LINE = "base.trainable = False"
CAUSE_OP = "not_trainable"
REASONS = ["not_trainable"]
FIX = [("    base.trainable = False\n", "")]
