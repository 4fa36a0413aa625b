import numpy as np
import tensorflow as tf
import tf_keras


class Direction(tf_keras.layers.Layer):
    def call(self, x):
        radius = tf.sqrt(x[:, 0] ** 2 + x[:, 1] ** 2)
        return tf.stack([radius, x[:, 0] + x[:, 1]], axis=1)


def build():
    tf_keras.utils.set_random_seed(209)
    model = tf_keras.Sequential([
        tf_keras.layers.InputLayer((3,)),
        tf_keras.layers.Dense(2, activation="relu", name="plane"),
        Direction(name="direction"),
        tf_keras.layers.Dense(1, name="out"),
    ])
    model.compile(optimizer=tf_keras.optimizers.SGD(0.01), loss="mse")
    x = np.array([[0.0, 0.0, 0.0], [1.0, 0.5, -0.2]], "float32")
    return {"model": model, "x": x, "y": np.ones((2, 1), "float32")}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=2, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Radius of the origin in a custom layer (tf_keras)"
REQUIRES = "tf_keras"
KIND = "nan"
MODE = "fit"
EXPECT = {"plane": "nan", "out": "ok"}
CAUSE = "The derivative of sqrt at 0 is infinite."
CAUSE_LINE = "radius = tf.sqrt(x[:, 0] ** 2 + x[:, 1] ** 2)"
CAUSE_OP = "Sqrt"
REASONS = ["derivative_of_sqrt_at_zero"]
FIX = [("x[:, 1] ** 2)", "x[:, 1] ** 2 + 1e-9)"), ("[0.0, 0.0, 0.0]", "[0.1, 0.2, 0.3]")]
