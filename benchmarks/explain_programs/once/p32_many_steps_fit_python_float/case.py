import keras
import tensorflow as tf


class Pair(keras.Model):
    def __init__(self):
        super().__init__()
        self.left = keras.layers.Dense(3, name="left")
        self.right = keras.layers.Dense(3, name="right")

    def call(self, x):
        a = self.left(x)
        b = self.right(x)
        similar = tf.reduce_sum(a * a, -1, keepdims=True)
        return similar


def build():
    keras.utils.set_random_seed(32)
    model = Pair()
    model.compile(optimizer=keras.optimizers.RMSprop(0.001), loss="mse", steps_per_execution=4)
    return {"model": model, "x": tf.random.normal([32, 4], seed=33), "y": tf.ones([32, 1])}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=4, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Siamese pair: one half multiplies itself (steps_per_execution=4)"
KIND = "none"
MODE = "fit"
EXPECT = {"left": "ok", "right": "none"}
CAUSE = "a * a where a * b was meant: b is thrown away."
CAUSE_LINE = "similar = tf.reduce_sum(a * a, -1, keepdims=True)"
CAUSE_OP = "unused"
REASONS = ["thrown_away"]
FIX = [("a * a", "a * b")]
