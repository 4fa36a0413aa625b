import keras
import numpy as np
import tensorflow as tf


def haversine(a, b):
    lat1, lon1, lat2, lon2 = a[:, 0], a[:, 1], b[:, 0], b[:, 1]
    h = tf.square(tf.sin((lat2 - lat1) / 2)) + tf.cos(lat1) * tf.cos(lat2) * tf.square(tf.sin((lon2 - lon1) / 2))
    return 2.0 * tf.asin(tf.sqrt(h))


def build():
    keras.utils.set_random_seed(335)
    centres = keras.initializers.Constant(0.3)
    inp = keras.Input((4,))
    h = keras.layers.Dense(8, activation="relu", name="trip", kernel_initializer="zeros")(inp)
    out = keras.layers.Dense(2, name="dest", bias_initializer=centres)(h)
    model = keras.Model(inp, out)
    model.compile(optimizer=keras.optimizers.SGD(0.01), loss=haversine)
    rng = np.random.default_rng(335)
    y = rng.uniform(-0.5, 0.5, (8, 2)).astype("float32")
    y[2] = 0.3
    return {"model": model, "x": rng.normal(size=(8, 4)).astype("float32"), "y": y}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Taxi destination with a haversine loss: a ride ends at the initial guess"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/4914"
KIND = "nan"
MODE = "fit"
EXPECT = {"trip": "nan", "dest": "nan"}
CAUSE = "sqrt(0) for a prediction that equals its target: infinite derivative times 0."
CAUSE_LINE = "return 2.0 * tf.asin(tf.sqrt(h))"
CAUSE_OP = "Sqrt"
FIX = [("tf.sqrt(h)", "tf.sqrt(h + 1e-9)"), ('name="trip", kernel_initializer="zeros"', 'name="trip"')]
