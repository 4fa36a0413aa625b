import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(18)
    a = keras.layers.Dense(3, name="a")
    b = keras.layers.Dense(1, name="b")
    a.build((None, 2))
    b.build((None, 3))
    variables = a.trainable_variables + b.trainable_variables

    @tf.function
    def train_step(x):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch([v.value for v in b.trainable_variables])
            loss = tf.reduce_mean(tf.square(b(tf.tanh(a(x))) - 1.0))
        return tape.gradient(loss, variables)

    return {"variables": variables, "train_step": train_step, "x": tf.random.normal([4, 2], seed=19)}


def step(state):
    return state["train_step"](state["x"]), state["variables"]


# ---- answers ----
TITLE = "watch_accessed_variables=False and half the variables not watched"
KIND = "none"
MODE = "function"
EXPECT = {"a/": "none", "b/": "ok"}
CAUSE = "The tape watches only what tape.watch was called with."
CAUSE_LINE = "with tf.GradientTape(watch_accessed_variables=False) as tape:"
CAUSE_OP = "not_watched"
REASONS = ["not_watched"]
FIX = [
    ("tf.GradientTape(watch_accessed_variables=False)", "tf.GradientTape()"),
    ("            tape.watch([v.value for v in b.trainable_variables])\n", ""),
]
