import keras
import tensorflow as tf


class Bounded(keras.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(), initializer=keras.initializers.Constant(9.0), name="scale")

    def call(self, x):
        limited = keras.ops.clip(self.scale, 0.0, 1.0)
        return x * limited


def build():
    keras.utils.set_random_seed(20)
    model = keras.Sequential([keras.Input((2,)), Bounded(name="bounded"), keras.layers.Dense(1, name="out")])
    model.compile(optimizer=keras.optimizers.SGD(0.05), loss="mse")
    return {"model": model, "x": tf.random.normal([8, 2], seed=21), "y": tf.ones([8, 1])}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=8, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "A learned scale that starts beyond its own clip"
KIND = "zero"
MODE = "fit"
EXPECT = {"scale": "zero", "out": "ok"}
CAUSE = "9 lies beyond the clip to [0, 1], where the derivative is 0."
CAUSE_LINE = "limited = keras.ops.clip(self.scale, 0.0, 1.0)"
CAUSE_OP = "Minimum"
REASONS = ["clipped"]
FIX = [("Constant(9.0)", "Constant(0.5)")]
