import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(327)
    critic = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu", name="c1"),
                               keras.layers.Dense(1, name="c2")])
    rng = np.random.default_rng(327)
    real = rng.normal(size=(8, 4)).astype("float32")
    fake = rng.normal(size=(8, 4)).astype("float32")
    real[5] = fake[5] = 0.0                       # blank images: every relu is off
    return {"critic": critic, "real": tf.constant(real), "fake": tf.constant(fake)}


def penalty(critic, real, fake):
    mix = 0.5 * real + 0.5 * fake
    with tf.GradientTape() as inner:
        inner.watch(mix)
        score = critic(mix)
    slope = inner.gradient(score, mix)
    norm = tf.sqrt(tf.reduce_sum(tf.square(slope), axis=1))
    return tf.reduce_mean(tf.square(norm - 1.0))


def step(state):
    critic = state["critic"]
    with tf.GradientTape() as tape:
        gap = tf.reduce_mean(critic(state["fake"])) - tf.reduce_mean(critic(state["real"]))
        loss = gap + 10.0 * penalty(critic, state["real"], state["fake"])
    kernels = [v for v in critic.trainable_variables if v.name == "kernel"]
    return tape.gradient(loss, kernels), kernels


# ---- answers ----
TITLE = "WGAN-GP: the critic is flat at a blank image"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/5562"
KIND = "nan"
MODE = "eager"
EXPECT = {"c1": "nan", "c2": "nan"}
CAUSE = "The input gradient is exactly 0 where all ReLUs are off: sqrt'(0) = inf in the second derivative."
CAUSE_LINE = "norm = tf.sqrt(tf.reduce_sum(tf.square(slope), axis=1))"
CAUSE_OP = "Sqrt"
FIX = [("tf.reduce_sum(tf.square(slope), axis=1))", "tf.reduce_sum(tf.square(slope), axis=1) + 1e-8)")]
