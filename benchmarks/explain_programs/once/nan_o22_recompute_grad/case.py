import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(222)
    first = keras.layers.Dense(4, activation="relu", name="first")
    second = keras.layers.Dense(2, bias_initializer="ones", name="second")
    first.build((None, 3))
    second.build((None, 4))

    def block(x):
        h = first(x)
        length = tf.sqrt(tf.reduce_sum(tf.square(h), axis=1, keepdims=True))
        return second(h) * tf.tanh(length)

    cheap = tf.recompute_grad(block)
    x = tf.constant([[0.4, 0.1, 0.2], [0.0, 0.0, 0.0]])
    variables = first.trainable_variables + second.trainable_variables

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(cheap(x) - 1.0))
        return tape.gradient(loss, variables)

    return {"variables": variables, "train_step": train_step, "x": x}


def step(state):
    return state["train_step"](state["x"]), state["variables"]


# ---- answers ----
TITLE = "A block whose activations are recomputed takes the length of a zero vector"
KIND = "nan"
MODE = "function"
EXPECT = {"first": "nan", "second": "ok"}
CAUSE = "sqrt(0) inside tf.recompute_grad: its derivative is infinite."
CAUSE_LINE = "length = tf.sqrt(tf.reduce_sum(tf.square(h), axis=1, keepdims=True))"
CAUSE_OP = "Sqrt"
REASONS = ["derivative_of_sqrt_at_zero"]
FIX = [("keepdims=True))", "keepdims=True) + 1e-9)")]
