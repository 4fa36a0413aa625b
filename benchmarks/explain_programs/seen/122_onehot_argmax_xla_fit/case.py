import keras
import numpy as np
import tensorflow as tf


class HardRouter(keras.layers.Layer):
    """Sends every token to one of several experts."""

    def __init__(self, experts, units, **kw):
        super().__init__(**kw)
        self.experts, self.units = experts, units

    def build(self, shape):
        self.gate = self.add_weight(shape=(shape[-1], self.experts), name="gate", initializer="glorot_uniform")
        self.bank = self.add_weight(shape=(self.experts, shape[-1], self.units), name="bank",
                                    initializer="glorot_uniform")

    def call(self, x):
        scores = tf.matmul(x, self.gate)
        route = tf.one_hot(tf.argmax(scores, axis=-1), self.experts)
        return tf.einsum("bd,edu,be->bu", x, self.bank, route)


def build():
    keras.utils.set_random_seed(122)
    inp = keras.Input((10,))
    h = keras.layers.Dense(12, activation="relu", name="stem")(inp)
    h = HardRouter(4, 8, name="moe")(h)
    model = keras.Model(inp, keras.layers.Dense(1, name="top")(h))
    model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse", jit_compile=True)
    rng = np.random.default_rng(122)
    return {"model": model, "x": rng.normal(size=(16, 10)).astype("float32"),
            "y": rng.normal(size=(16, 1)).astype("float32")}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Mixture of experts with hard routing: the gate is not trained (XLA)"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/15278"
KIND = "none"
MODE = "fit"
EXPECT = {"stem": "ok", "gate": "none", "bank": "ok", "top": "ok"}
CAUSE = "argmax gives integers without gradient; the gate's scores do not enter the output."
CAUSE_LINE = "route = tf.one_hot(tf.argmax(scores, axis=-1), self.experts)"
CAUSE_OP = "ArgMax"
FIX = [("route = tf.one_hot(tf.argmax(scores, axis=-1), self.experts)", "route = tf.nn.softmax(scores)")]
