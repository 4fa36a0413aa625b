import keras
import tensorflow as tf


@tf.custom_gradient
def scaled_tanh(x, slope):
    y = tf.tanh(x * slope)

    def grad(upstream):
        return upstream * slope * (1.0 - y * y), None

    return y, grad


class Soft(keras.layers.Layer):
    def build(self, shape):
        self.slope = self.add_weight(shape=(shape[-1],), initializer="ones", name="slope")

    def call(self, x):
        return scaled_tanh(x, tf.convert_to_tensor(self.slope))


def build():
    keras.utils.set_random_seed(26)
    model = keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(4, name="lin"), Soft(name="soft"), keras.layers.Dense(1, name="out")]
    )
    model.compile(optimizer=keras.optimizers.SGD(0.05), loss="mse")
    return {"model": model, "x": tf.random.normal([8, 3], seed=27), "y": tf.ones([8, 1])}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=8, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "A custom_gradient in a Keras layer that leaves out its second input"
KIND = "none"
MODE = "fit"
EXPECT = {"lin": "ok", "slope": "none", "out": "ok"}
CAUSE = "The gradient function returns None for slope."
CAUSE_LINE = "return upstream * slope * (1.0 - y * y), None"
CAUSE_OP = "custom_gradient"
REASONS = ["custom_gradient_none"]
FIX = [
    (
        "return upstream * slope * (1.0 - y * y), None",
        "d = upstream * (1.0 - y * y); return d * slope, tf.reduce_sum(d * x, 0)",
    )
]
