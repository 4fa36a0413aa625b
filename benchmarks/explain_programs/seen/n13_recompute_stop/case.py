import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(13)
    first = keras.layers.Dense(4, activation="tanh", name="first")
    second = keras.layers.Dense(1, name="second")
    first.build((None, 3))
    second.build((None, 4))
    return {"first": first, "second": second, "x": tf.random.normal([5, 3], seed=14)}


def step(state):
    variables = state["first"].trainable_variables + state["second"].trainable_variables

    @tf.recompute_grad
    def block(x):
        h = state["first"](x)
        h = tf.stop_gradient(h)
        return state["second"](h)

    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(block(state["x"]) - 1.0))
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "tf.recompute_grad around a block with a stop_gradient: zeros instead of None"
KIND = "zero"
MODE = "eager"
EXPECT = {"first": "zero", "second": "ok"}
CAUSE = "stop_gradient inside the recomputed block; recompute_grad answers zeros for what is not connected."
CAUSE_LINE = "h = tf.stop_gradient(h)"
CAUSE_OP = "StopGradient"
REASONS = ["stop_gradient"]
FIX = [("        h = tf.stop_gradient(h)\n", "")]
