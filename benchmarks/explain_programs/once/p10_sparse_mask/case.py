import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(10)
    gate = keras.layers.Dense(4, name="gate")
    lin = keras.layers.Dense(1, name="lin")
    gate.build((None, 4))
    lin.build((None, 4))
    variables = gate.trainable_variables + lin.trainable_variables

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            strong = gate(x) > 0.0
            mask = tf.sparse.from_dense(tf.cast(strong, tf.float32))
            kept = tf.sparse.to_dense(mask) * x
            loss = tf.reduce_mean(tf.square(lin(kept) - 1.0))
        return tape.gradient(loss, variables)

    return {"variables": variables, "train_step": train_step, "x": tf.random.normal([5, 4], seed=11)}


def step(state):
    return state["train_step"](state["x"]), state["variables"]


# ---- answers ----
TITLE = "A sparse mask made by comparing"
KIND = "none"
MODE = "function"
EXPECT = {"gate": "none", "lin": "ok"}
CAUSE = "The comparison makes booleans; they carry no gradient."
CAUSE_LINE = "strong = gate(x) > 0.0"
CAUSE_OP = "Greater"
REASONS = ["comparison"]
FIX = [
    ("            mask = tf.sparse.from_dense(tf.cast(strong, tf.float32))\n", ""),
    ("tf.sparse.to_dense(mask) * x", "tf.sigmoid(gate(x)) * x"),
]
