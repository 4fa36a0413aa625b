import keras
import tensorflow as tf


class Smoother(keras.layers.Layer):
    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.project = keras.layers.Dense(units, name="project")
        self.memory = self.add_weight(shape=(units,), initializer="zeros", trainable=False, name="memory")

    def call(self, x):
        summary = tf.reduce_mean(self.project(x), 0)
        self.memory.assign(0.9 * self.memory + 0.1 * summary)
        return tf.zeros_like(x[:, :1]) + self.memory


def build():
    keras.utils.set_random_seed(33)
    model = keras.Sequential([keras.Input((3,)), Smoother(4, name="smoother"), keras.layers.Dense(1, name="read")])
    model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse")
    return {"model": model, "x": tf.random.normal([8, 3], seed=34), "y": tf.ones([8, 1])}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=8, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "A layer that keeps its running summary in a weight and answers with it"
KIND = "none"
MODE = "fit"
EXPECT = {"project": "none", "read": "ok"}
CAUSE = "The summary passes through assign."
CAUSE_LINE = "self.memory.assign(0.9 * self.memory + 0.1 * summary)"
CAUSE_OP = "AssignVariableOp"
REASONS = ["assigned"]
FIX = [("        return tf.zeros_like(x[:, :1]) + self.memory", "        return tf.zeros_like(x[:, :1]) + summary")]
