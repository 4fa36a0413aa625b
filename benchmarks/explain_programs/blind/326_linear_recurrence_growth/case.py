import numpy as np
import tensorflow as tf


def build():
    rng = np.random.default_rng(326)
    a = tf.Variable(rng.normal(size=(6, 6)) * 0.8, dtype=tf.float32, name="transition")
    b = tf.Variable(rng.normal(size=(2, 6)), dtype=tf.float32, name="inject")
    c = tf.Variable(rng.normal(size=(6, 1)), dtype=tf.float32, name="readout")
    u = tf.constant(rng.normal(size=(300, 4, 2)), tf.float32)
    y = tf.constant(rng.normal(size=(4, 1)), tf.float32)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            s = tf.zeros([4, 6])
            for t in tf.range(300):
                s = tf.matmul(s, a) + tf.matmul(u[t], b)
            loss = tf.reduce_mean(tf.square(tf.matmul(s, c) - y))
        return tape.gradient(loss, [a, b, c])

    return {"vars": [a, b, c], "train_step": train_step}


def step(state):
    return state["train_step"](), state["vars"]


# ---- answers ----
TITLE = "Linear state-space model over 300 steps overflows"
SOURCE = "https://github.com/wuga214/IMPLEMENTATION_Variational-Auto-Encoder/issues/1"
KIND = "nan"
MODE = "function"
EXPECT = {"transition": "nan", "inject": "nan", "readout": "nan"}
CAUSE = "The transition matrix has a spectral radius above 1, so the state grows at each of the 300 steps until it overflows."
CAUSE_LINE = "s = tf.matmul(s, a) + tf.matmul(u[t], b)"
CAUSE_OP = "MatMul"
FIX = [("rng.normal(size=(6, 6)) * 0.8", "rng.normal(size=(6, 6)) * 0.2")]
