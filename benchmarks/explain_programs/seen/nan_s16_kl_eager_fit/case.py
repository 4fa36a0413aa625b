import keras
import numpy as np
import tensorflow as tf


def kl(p, q):
    return tf.reduce_sum(p * tf.math.log(p / q), axis=-1)


def build():
    keras.utils.set_random_seed(116)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="softmax", name="policy")])
    model.compile(optimizer=keras.optimizers.RMSprop(1e-3), loss=kl, run_eagerly=True)
    x = np.eye(4, dtype="float32")[:3]
    y = np.array([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0], [0.1, 0.1, 0.8]], "float32")
    return {"model": model, "x": x, "y": y}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=3, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "KL divergence by hand with a zero probability in the target, run_eagerly"
KIND = "nan"
MODE = "fit"
EXPECT = {"policy": "nan"}
CAUSE = "p * log(p / q) with p = 0 is 0 * -Inf = NaN."
CAUSE_LINE = "return tf.reduce_sum(p * tf.math.log(p / q), axis=-1)"
CAUSE_OP = "Log"
REASONS = ["log_of_zero", "derivative_of_log_at_zero"]
FIX = [("p * tf.math.log(p / q)", "p * tf.math.log((p + 1e-7) / q)")]
