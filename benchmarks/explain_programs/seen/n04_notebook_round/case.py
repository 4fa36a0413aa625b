import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(4)
    net = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, name="net")])
    return {"net": net, "x": tf.random.normal([5, 2], seed=5)}


def step(state):
    variables = state["net"].trainable_variables
    with tf.GradientTape() as tape:
        count = state["net"](state["x"])
        count = tf.math.ceil(count)
        loss = tf.reduce_mean(tf.square(count - 2.0))
    return tape.gradient(loss, variables), variables


# ---- answers ----
NOTEBOOK = True
TITLE = "A notebook cell that rounds up its prediction"
KIND = "none"
MODE = "eager"
EXPECT = {"net": "none"}
CAUSE = "ceil has no gradient."
CAUSE_LINE = "count = tf.math.ceil(count)"
CAUSE_OP = "Ceil"
REASONS = ["rounding"]
FIX = [("        count = tf.math.ceil(count)\n", "")]
