import numpy as np
import tensorflow as tf


def build():
    log_rate = tf.Variable(0.2, name="log_rate")
    mix = tf.Variable([0.0, 0.3], name="mix")
    rng = np.random.default_rng(306)
    wait = rng.gamma(1.5, 2.0, 40).astype("float32")
    wait[11] = 0.0                               # served at once
    served = tf.constant((rng.uniform(size=40) < 0.7).astype("float32"))
    wait = tf.constant(wait)
    stages = tf.constant([1.0, 2.0])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            x = wait[:, None] * tf.exp(log_rate)
            cdf = tf.math.igamma(stages, x)
            p = tf.reduce_sum(tf.nn.softmax(mix) * cdf, axis=1)
            loss = tf.reduce_mean(tf.square(p - served))
        grads = tape.gradient(loss, [log_rate, mix])
        log_rate.assign_sub(0.05 * grads[0])
        mix.assign_sub(0.05 * grads[1])
        return grads

    return {"vars": [log_rate, mix], "train_step": train_step}


def step(state):
    return state["train_step"](), state["vars"]


# ---- answers ----
TITLE = "Erlang waiting times: igamma at shape 1 and x = 0"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/123578"
KIND = "nan"
MODE = "function"
EXPECT = {"log_rate": "nan", "mix": "ok"}
CAUSE = "The gradient of igamma computes (a - 1) * log(x) = 0 * -inf = NaN at a = 1, x = 0."
CAUSE_LINE = "cdf = tf.math.igamma(stages, x)"
CAUSE_OP = "Igamma"
FIX = [("x = wait[:, None] * tf.exp(log_rate)", "x = (wait[:, None] + 1e-4) * tf.exp(log_rate)")]
