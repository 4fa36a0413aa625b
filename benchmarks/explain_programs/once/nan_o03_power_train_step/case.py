import keras
import numpy as np
import tensorflow as tf


class Compander(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(4, activation="relu", name="hidden")
        self.out = keras.layers.Dense(2, activation="relu", name="out")

    def call(self, x):
        return self.out(self.hidden(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loudness = self(x, training=True)
            compressed = tf.pow(loudness, 0.3)
            loss = tf.reduce_mean(tf.square(compressed - y))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        return {"loss": loss}


def build():
    keras.utils.set_random_seed(203)
    model = Compander()
    model.compile(optimizer=keras.optimizers.SGD(0.01), jit_compile=False)
    x = np.array([[0.0, 0.0, 0.0], [1.0, -1.0, 0.5]], "float32")
    model(x)
    return {"model": model, "x": x, "y": np.ones((2, 2), "float32")}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=2, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Own train_step: x to the power 0.3 at x = 0"
KIND = "nan"
MODE = "fit"
EXPECT = {"hidden": "nan", "out": "nan"}
CAUSE = "The derivative of x ** 0.3 at 0 is infinite; ReLU and the zero input multiply it with 0."
CAUSE_LINE = "compressed = tf.pow(loudness, 0.3)"
CAUSE_OP = "Pow"
REASONS = ["derivative_of_power_at_zero"]
FIX = [("tf.pow(loudness, 0.3)", "tf.pow(loudness + 1e-3, 0.3)"), ("[[0.0, 0.0, 0.0]", "[[0.3, 0.2, -0.5]")]
