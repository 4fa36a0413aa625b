import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(25)
    inner = keras.layers.Dense(5, name="inner")
    outer = keras.layers.Dense(1, name="outer")
    inner.build((None, 3))
    outer.build((None, 5))
    x = 1.0e4 * tf.random.uniform([6, 3], 0.5, 1.0, seed=26)  # raw sensor counts
    return {"inner": inner, "outer": outer, "x": x}


def forward(state):
    h = tf.tanh(state["inner"](state["x"]))
    return tf.reduce_mean(tf.square(state["outer"](h) - 1.0))


def step(state):
    variables = state["inner"].trainable_variables + state["outer"].trainable_variables
    with tf.GradientTape() as tape:
        loss = forward(state)
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "tanh saturates exactly because the inputs are not scaled"
KIND = "zero"
MODE = "eager"
EXPECT = {"inner": "zero", "outer": "ok"}
CAUSE = "tanh of numbers in the thousands is exactly ±1 in float32; its derivative is 0."
CAUSE_LINE = 'h = tf.tanh(state["inner"](state["x"]))'
CAUSE_OP = "Tanh"
REASONS = ["saturated_activation"]
FIX = [("x = 1.0e4 * tf.random", "x = tf.random")]
