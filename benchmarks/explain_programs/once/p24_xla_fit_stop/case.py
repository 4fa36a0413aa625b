import keras
import tensorflow as tf


class Teacher(keras.layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.a = keras.layers.Dense(4, activation="relu", name="a")
        self.b = keras.layers.Dense(4, name="b")

    def call(self, x):
        target = tf.stop_gradient(self.b(x))
        return self.a(x) - target


def build():
    keras.utils.set_random_seed(24)
    model = keras.Sequential([keras.Input((3,)), Teacher(name="teacher"), keras.layers.Dense(1, name="last")])
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse", jit_compile=True)
    return {"model": model, "x": tf.random.normal([8, 3], seed=25), "y": tf.ones([8, 1])}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=8, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Under XLA: the target branch is stopped and not marked as frozen"
KIND = "none"
MODE = "fit"
EXPECT = {"a/": "ok", "b/": "none", "last": "ok"}
CAUSE = "stop_gradient on the branch of b."
CAUSE_LINE = "target = tf.stop_gradient(self.b(x))"
CAUSE_OP = "StopGradient"
REASONS = ["stop_gradient"]
FIX = [("tf.stop_gradient(self.b(x))", "self.b(x)")]
