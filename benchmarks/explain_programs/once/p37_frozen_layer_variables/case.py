import keras
import tensorflow as tf


class Prototype(keras.layers.Layer):
    def build(self, shape):
        self.table = self.add_weight(shape=(shape[-1], 4), initializer="glorot_uniform", trainable=False, name="table")
        self.temper = self.add_weight(shape=(), initializer="ones", name="temper")

    def call(self, x):
        return tf.nn.softmax(self.temper * (x @ self.table))


def build():
    keras.utils.set_random_seed(37)
    base = Prototype(name="base")
    head = keras.layers.Dense(1, name="head")
    base.build((None, 3)); head.build((None, 4))
    return {"base": base, "head": head, "x": tf.random.normal([5, 3], seed=38)}


def step(state):
    variables = state["base"].variables + state["head"].variables
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(state["head"](state["base"](state["x"])) - 1.0))
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "A layer's weight that is not trainable is handed over all the same"
KIND = "none"
MODE = "eager"
EXPECT = {"table": "none", "temper": "ok", "head": "ok"}
CAUSE = "table was made with trainable=False: the tape does not watch it."
CAUSE_LINE = 'self.table = self.add_weight(shape=(shape[-1], 4), initializer="glorot_uniform", trainable=False, name="table")'
CAUSE_OP = "not_trainable"
REASONS = ["not_trainable"]
FIX = [("trainable=False, ", "")]
