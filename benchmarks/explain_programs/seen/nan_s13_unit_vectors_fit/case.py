import keras
import numpy as np
import tensorflow as tf


class UnitLength(keras.layers.Layer):
    def call(self, x):
        return x / tf.sqrt(tf.reduce_sum(x * x, axis=-1, keepdims=True))


def build():
    keras.utils.set_random_seed(113)
    model = keras.Sequential([
        keras.Input((3,)),
        keras.layers.Dense(6, activation="relu", name="enc", bias_initializer=keras.initializers.Constant(0.1)),
        UnitLength(name="unit"),
        keras.layers.Dense(2, name="cls"),
    ])
    model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    x = np.array([[1.0, 0.2, 0.3], [0.0, 1.0, 0.5], [-9.0, -9.0, -9.0]], "float32")
    model.get_layer("enc").kernel.assign(np.abs(model.get_layer("enc").kernel.numpy()) + 0.1)
    return {"model": model, "x": x, "y": np.array([0, 1, 1])}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=3, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Dividing an all-zero ReLU output by its length"
KIND = "nan"
MODE = "fit"
EXPECT = {"enc": "nan", "cls": "nan"}
CAUSE = "For the third sample all units are off: 0 / sqrt(0) is NaN."
CAUSE_LINE = "return x / tf.sqrt(tf.reduce_sum(x * x, axis=-1, keepdims=True))"
CAUSE_OP = "RealDiv"
REASONS = ["division_by_zero"]
FIX = [("keepdims=True))", "keepdims=True) + 1e-6)")]
