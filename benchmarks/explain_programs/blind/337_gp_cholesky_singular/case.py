import numpy as np
import tensorflow as tf


def build():
    rng = np.random.default_rng(404)
    x = np.sort(rng.uniform(0, 1, 12)).astype("float32")
    x[5] = x[4]                                   # a repeated measurement
    y = np.sin(6 * x)
    log_len = tf.Variable(0.7, name="log_len")
    log_amp = tf.Variable(0.0, name="log_amp")
    x, y = tf.constant(x), tf.constant(y.astype("float32"))

    def kernel():
        d = x[:, None] - x[None, :]
        return tf.exp(2 * log_amp) * tf.exp(-0.5 * tf.square(d / tf.exp(log_len)))

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            chol = tf.linalg.cholesky(kernel())
            half = tf.linalg.triangular_solve(chol, y[:, None])
            nll = 0.5 * tf.reduce_sum(tf.square(half)) + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(chol)))
        return tape.gradient(nll, [log_len, log_amp])

    return {"vars": [log_len, log_amp], "train_step": train_step}


def step(state):
    return state["train_step"](), state["vars"]


# ---- answers ----
TITLE = "Gaussian process without jitter: the kernel matrix is singular"
SOURCE = "https://github.com/geomstats/geomstats/pull/176"
KIND = "nan"
MODE = "function"
EXPECT = {"log_len": "nan", "log_amp": "nan"}
CAUSE = "Two rows of the kernel matrix are equal, so it is not positive definite in float32 and Cholesky answers NaN."
CAUSE_LINE = "chol = tf.linalg.cholesky(kernel())"
CAUSE_OP = "Cholesky"
FIX = [("tf.linalg.cholesky(kernel())", "tf.linalg.cholesky(kernel() + 0.01 * tf.eye(12))")]
