import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(27)
    body = keras.layers.Dense(4, name="body")
    head = keras.layers.Dense(1, name="head")
    body.build((None, 3))
    head.build((None, 4))
    variables = body.trainable_variables + head.trainable_variables

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            h = body(x)
            bits = tf.sign(h)
            loss = tf.reduce_mean(tf.square(head(bits) - 0.5))
        return tape.gradient(loss, variables)

    return {"variables": variables, "train_step": train_step, "x": tf.random.normal([6, 3], seed=28)}


def step(state):
    return state["train_step"](state["x"]), state["variables"]


# ---- answers ----
TITLE = "Binarised activations with tf.sign"
KIND = "zero"
MODE = "function"
EXPECT = {"body": "zero", "head": "ok"}
CAUSE = "The gradient of tf.sign is registered as zeros."
CAUSE_LINE = "bits = tf.sign(h)"
CAUSE_OP = "Sign"
REASONS = ["rounding", "zero_derivative"]
FIX = [("bits = tf.sign(h)", "bits = tf.tanh(h)")]
