import keras
import tensorflow as tf


class GatedCell(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.state_size = units
        self.mix = keras.layers.Dense(units, name="mix")

    def call(self, inputs, states):
        h = states[0]
        gate = tf.exp(self.mix(tf.concat([inputs, h], axis=1)))
        h = h * gate + inputs
        return h, [h]


def build():
    keras.utils.set_random_seed(224)
    inp = keras.Input((40, 3))
    h = keras.layers.RNN(GatedCell(3), name="gated")(inp)
    model = keras.Model(inp, keras.layers.Dense(1, name="out")(h))
    model.compile(optimizer="adam", loss="mse")
    return {"model": model, "x": tf.random.uniform([4, 40, 3], 0.5, 1.5, seed=1), "y": tf.ones([4, 1])}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=4, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "A recurrent cell of one's own with an exponential gate"
KIND = "nan"
MODE = "fit"
EXPECT = {"mix": "nan", "out": "inf"}
CAUSE = "exp of the state multiplies the state, so it overflows within a few steps."
CAUSE_LINE = "gate = tf.exp(self.mix(tf.concat([inputs, h], axis=1)))"
CAUSE_OP = "Exp"
REASONS = ["growth_in_recurrence", "exp_overflow"]
FIX = [("tf.exp(self.mix", "tf.sigmoid(self.mix")]
