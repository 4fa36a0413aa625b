import keras
import numpy as np
import tensorflow as tf


def policy_loss(baseline, probs):
    return -tf.reduce_sum(tf.math.log(probs) * baseline, axis=-1)


def build():
    keras.utils.set_random_seed(309)
    model = keras.Sequential([
        keras.Input((4,)),
        keras.layers.Dense(8, activation="relu", name="hidden"),
        keras.layers.Dense(3, activation="softmax", name="policy"),
    ])
    model.compile(optimizer=keras.optimizers.RMSprop(1e-3), loss=policy_loss)
    rng = np.random.default_rng(309)
    x = rng.normal(size=(16, 4)).astype("float32") * 3
    x[9] *= 400.0                                 # a flying cart
    y = np.zeros((16, 3), "float32")
    y[np.arange(16), rng.integers(0, 3, 16)] = rng.normal(size=16)
    return {"model": model, "x": x, "y": y}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Actor loss takes the logarithm of a softmax that underflowed"
SOURCE = "https://github.com/keras-team/keras/issues/5733"
KIND = "nan"
MODE = "fit"
EXPECT = {"hidden": "nan", "policy": "nan"}
CAUSE = "A probability is exactly 0: log(0) = -Inf, times 0 or divided by 0 gives NaN."
CAUSE_LINE = "return -tf.reduce_sum(tf.math.log(probs) * baseline, axis=-1)"
CAUSE_OP = "Log"
FIX = [("tf.math.log(probs)", "tf.math.log(probs + 1e-6)")]
