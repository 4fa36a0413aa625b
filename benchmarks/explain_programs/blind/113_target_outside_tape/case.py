import numpy as np
import tensorflow as tf
import keras


class SafeCritic:
    def __init__(self):
        self.net = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="tanh", name="q1"),
                                     keras.layers.Dense(2, name="q2")])

    def value(self, obs):
        return tf.reduce_max(self.net(obs), axis=-1)


def build():
    keras.utils.set_random_seed(113)
    rng = np.random.default_rng(13)
    return {"critic": SafeCritic(), "obs": tf.constant(rng.normal(size=(16, 6)), tf.float32),
            "ret": tf.constant(rng.normal(size=16), tf.float32)}


def error(pred, target):
    return tf.reduce_mean(keras.losses.huber(target[:, None], pred[:, None]))


def step(state):
    critic = state["critic"]
    weights = critic.net.trainable_weights
    with tf.GradientTape() as tape:
        tape.watch(state["obs"])
        scaled = state["ret"] / 10.0
    pred = critic.value(state["obs"])
    grads = tape.gradient(error(pred, scaled), weights)
    return grads, weights


# ---- answers ----
TITLE = "Loss is evaluated after the with-block has ended"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/27660"
KIND = "none"
MODE = "eager"
EXPECT = {"q1": "none", "q2": "none"}
CAUSE = "The network runs after the tape was closed, so nothing was recorded."
CAUSE_LINE = 'pred = critic.value(state["obs"])'
CAUSE_OP = "outside_tape"
FIX = [('    pred = critic.value(state["obs"])\n    grads = tape.gradient(error(pred, scaled), weights)',
        '        pred = critic.value(state["obs"])\n        value = error(pred, scaled)\n    grads = tape.gradient(value, weights)')]
