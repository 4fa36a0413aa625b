import numpy as np
import tensorflow as tf
import tf_keras


def focal(gamma=0.5, alpha=0.25):
    def loss(y, p):
        pt = tf.where(tf.equal(y, 1.0), p, 1.0 - p)
        hard = tf.pow(1.0 - pt, gamma)
        return -tf.reduce_mean(alpha * hard * tf.math.log(pt + 1e-7))

    return loss


def build():
    tf_keras.utils.set_random_seed(331)
    model = tf_keras.Sequential([tf_keras.layers.Dense(8, activation="relu", name="l1"),
                                 tf_keras.layers.Dense(1, activation="sigmoid", name="l2")])
    model.build((None, 5))
    model.compile(optimizer=tf_keras.optimizers.Adam(1e-3), loss=focal())
    rng = np.random.default_rng(331)
    x = rng.normal(size=(24, 5)).astype("float32")
    y = rng.integers(0, 2, (24, 1)).astype("float32")
    x[20] *= 300.0
    w = model.get_weights()
    z = np.maximum(x[20] @ w[0], 0) @ w[2]
    y[20] = float(z[0] > 0)                       # far out, and on the right side
    return {"model": model, "x": x, "y": y}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
REQUIRES = "tf_keras"
TITLE = "tf_keras focal loss with gamma below 1 and a perfect prediction"
SOURCE = "https://github.com/mkocabas/focal-loss-keras/issues/17"
KIND = "nan"
MODE = "fit"
EXPECT = {"l1": "nan", "l2/kernel": "nan", "l2/bias": "inf"}
CAUSE = "1 - pt is exactly 0 and 0**0.5 has an infinite derivative."
CAUSE_LINE = "hard = tf.pow(1.0 - pt, gamma)"
CAUSE_OP = "Pow"
FIX = [("hard = tf.pow(1.0 - pt, gamma)", "hard = tf.pow(1.0 - pt + 1e-6, gamma)")]
