import keras
import numpy as np
import tensorflow as tf


def smooth(a):
    kernel = np.hanning(5) / np.hanning(5).sum()
    return np.apply_along_axis(np.convolve, 1, a, kernel, mode="same").astype(np.float32)


class Smoother(keras.layers.Layer):
    def call(self, x):
        y = tf.numpy_function(smooth, [x], tf.float32)
        y.set_shape(x.shape)
        return y

    def compute_output_shape(self, shape):
        return shape


def build():
    keras.utils.set_random_seed(118)
    inp = keras.Input((12,))
    h = keras.layers.Dense(24, activation="relu", name="up")(inp)
    h = keras.layers.Dense(16, name="curve")(h)
    h = Smoother(name="smooth")(h)
    out = keras.layers.Dense(16, name="final")(h)
    model = keras.Model(inp, out)
    model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse")
    rng = np.random.default_rng(18)
    return {"model": model, "x": rng.normal(size=(16, 12)).astype("float32"),
            "y": rng.normal(size=(16, 16)).astype("float32")}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Smoothing layer written with numpy_function"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/43916"
KIND = "none"
MODE = "fit"
EXPECT = {"up": "none", "curve": "none", "final": "ok"}
EXPECT_LOG = "Gradients do not exist for variables"
CAUSE = "tf.numpy_function has no gradient; the layers before it are disconnected."
CAUSE_LINE = "y = tf.numpy_function(smooth, [x], tf.float32)"
CAUSE_OP = "PyFunc"
FIX = [("y = tf.numpy_function(smooth, [x], tf.float32)", "y = tf.nn.conv1d(x[..., None], tf.constant([0.0, 0.25, 0.5, 0.25, 0.0])[:, None, None], 1, 'SAME')[..., 0]")]
