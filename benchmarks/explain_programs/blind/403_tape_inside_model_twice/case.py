import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(403)
    gen = keras.Sequential([keras.Input((3,)), keras.layers.Dense(5, name="gen")])
    dis = keras.Sequential([keras.Input((5,)), keras.layers.Dense(1, name="dis")])
    rng = np.random.default_rng(403)
    return {"gen": gen, "dis": dis, "real": tf.constant(rng.normal(size=(8, 5)), tf.float32),
            "z": tf.constant(rng.normal(size=(8, 3)), tf.float32)}


def step(state):
    gen, dis = state["gen"], state["dis"]
    with tf.GradientTape() as tape:
        fake = dis(gen(state["z"]))
        real = dis(state["real"])
        g_loss = tf.reduce_mean(tf.nn.softplus(-fake))
        d_loss = tf.reduce_mean(tf.nn.softplus(fake)) + tf.reduce_mean(tf.nn.softplus(-real))
    g_grads = tape.gradient(g_loss, gen.trainable_variables)
    d_grads = tape.gradient(d_loss, dis.trainable_variables)
    return g_grads + d_grads, gen.trainable_variables + dis.trainable_variables


# ---- answers ----
TITLE = "GAN with a single tape for two losses"
SOURCE = "https://insights.willogy.io/tensorflow-part-3-automatic-differentiation/"
KIND = "error"
MODE = "eager"
EXPECT = {}
EXPECT_ERROR = "can only be used to compute one set of gradients"
CAUSE = "A tape that is not persistent is released by its first gradient call."
CAUSE_LINE = "d_grads = tape.gradient(d_loss, dis.trainable_variables)"
CAUSE_OP = "tape"
FIX = [("with tf.GradientTape() as tape:", "with tf.GradientTape(persistent=True) as tape:")]
