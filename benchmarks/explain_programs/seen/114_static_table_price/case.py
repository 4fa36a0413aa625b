import numpy as np
import tensorflow as tf


def build():
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(tf.range(0, 11, dtype=tf.int64),
                                            tf.constant(np.linspace(1.0, 3.0, 11) ** 2, tf.float32)), -1.0)
    w = tf.Variable(tf.random.stateless_uniform([5, 1], [4, 4]), name="w")
    scale = tf.Variable(1.0, name="scale")
    x = tf.constant(np.random.default_rng(14).uniform(0, 1, (20, 5)), tf.float32)
    cost = tf.constant(np.random.default_rng(15).uniform(1, 9, 20), tf.float32)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            level = tf.squeeze(tf.sigmoid(tf.matmul(x, w)), -1) * 10.0
            key = tf.cast(level, tf.int64)
            price = table.lookup(key)
            loss = tf.reduce_mean(tf.square(scale * price - cost))
        return tape.gradient(loss, [w, scale])

    return {"vars": [w, scale], "table": table, "train_step": train_step}


def step(state):
    return state["train_step"](), state["vars"]


# ---- answers ----
TITLE = "Price list kept in a StaticHashTable"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/38305"
KIND = "none"
MODE = "function"
EXPECT = {"w": "none", "scale": "ok"}
CAUSE = "The level becomes an int64 key and is looked up in a table; neither has a gradient."
CAUSE_LINE = "key = tf.cast(level, tf.int64)"
CAUSE_OP = "Cast"
FIX = [("            key = tf.cast(level, tf.int64)\n", ""), ("price = table.lookup(key)", "price = tf.square(1.0 + 0.2 * level)")]
