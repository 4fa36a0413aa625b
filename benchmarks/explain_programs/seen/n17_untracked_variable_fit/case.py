import keras
import tensorflow as tf


class Scale(keras.layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.dense = keras.layers.Dense(3, name="dense")
        self.factor = tf.Variable([1.0, 1.0, 1.0], name="factor")

    def call(self, x):
        return self.dense(x) * self.factor


def build():
    keras.utils.set_random_seed(17)
    model = keras.Sequential([keras.Input((2,)), Scale(name="scale"), keras.layers.Dense(1, name="out")])
    model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse")
    return {"model": model, "x": tf.random.normal([8, 2], seed=18), "y": tf.ones([8, 1])}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=8, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Keras 3 layer with a plain tf.Variable: it takes part and is never trained"
KIND = "none"
MODE = "fit"
MISSING = ["factor"]
EXPECT = {"dense": "ok", "out": "ok"}
CAUSE = "Keras 3 tracks only what add_weight (or keras.Variable) makes; a plain tf.Variable is ignored."
CAUSE_LINE = 'self.factor = tf.Variable([1.0, 1.0, 1.0], name="factor")'
CAUSE_OP = "untracked"
REASONS = ["untracked"]
FIX = [
    ('tf.Variable([1.0, 1.0, 1.0], name="factor")', 'self.add_weight(shape=(3,), initializer="ones", name="factor")')
]
