import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(102)
    body = keras.layers.Dense(8, activation="relu", name="body")
    head = keras.layers.Dense(3, name="head")
    body.build((None, 4))
    head.build((None, 8))
    variables = body.trainable_variables + head.trainable_variables
    x = 200.0 * tf.random.uniform([5, 4], seed=3)  # pixel values that nobody divided by 255
    y = tf.one_hot([0, 1, 2, 1, 0], 3)

    @tf.function
    def train_step(images, labels):
        with tf.GradientTape() as tape:
            logits = head(body(images))
            weight = tf.exp(logits)
            p = weight / tf.reduce_sum(weight, axis=-1, keepdims=True)
            loss = tf.reduce_mean(tf.reduce_sum(tf.square(p - labels), -1))
        return tape.gradient(loss, variables)

    return {"variables": variables, "train_step": train_step, "x": x, "y": y}


def step(state):
    return state["train_step"](state["x"], state["y"]), state["variables"]


# ---- answers ----
TITLE = "Softmax written by hand on large logits"
KIND = "nan"
MODE = "function"
EXPECT = {"body": "nan", "head": "nan"}
CAUSE = "exp of a logit above 88.7 is Inf in float32, and Inf / Inf is NaN."
CAUSE_LINE = "weight = tf.exp(logits)"
CAUSE_OP = "Exp"
REASONS = ["exp_overflow"]
FIX = [("weight = tf.exp(logits)", "weight = tf.exp(logits - tf.reduce_max(logits, axis=-1, keepdims=True))")]
