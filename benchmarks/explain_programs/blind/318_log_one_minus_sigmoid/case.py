import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(318)
    gen = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="relu", name="g1"),
                            keras.layers.Dense(6, name="g2")])
    dis = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1, activation="sigmoid", name="d1",
                                                                  kernel_initializer=keras.initializers.Constant(0.5))])
    rng = np.random.default_rng(318)
    real = tf.constant(rng.uniform(0, 40, (8, 6)), tf.float32)
    return {"gen": gen, "dis": dis, "real": real, "z": tf.constant(rng.normal(size=(8, 3)), tf.float32)}


def d_loss(on_real, on_fake):
    flipped = 1.0 - on_real                       # label flipping trick
    return -tf.reduce_mean(tf.math.log(flipped) + tf.math.log(on_fake))


def step(state):
    gen, dis = state["gen"], state["dis"]
    variables = gen.trainable_variables + dis.trainable_variables
    with tf.GradientTape() as tape:
        loss = d_loss(dis(state["real"]), dis(gen(state["z"])))
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "GAN with flipped labels: log(1 - D) when D is exactly 1"
SOURCE = "https://github.com/hwalsuklee/tensorflow-mnist-VAE/issues/4"
KIND = "nan"
MODE = "eager"
EXPECT = {"g1": "ok", "g2": "ok", "d1": "nan"}
CAUSE = "The sigmoid saturates to exactly 1, 1 - 1 = 0, log(0) = -Inf, and Inf * 0 = NaN backwards."
CAUSE_LINE = "return -tf.reduce_mean(tf.math.log(flipped) + tf.math.log(on_fake))"
CAUSE_OP = "Log"
FIX = [("tf.math.log(flipped)", "tf.math.log(flipped + 1e-6)")]
