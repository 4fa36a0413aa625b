import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(5)
    enc = keras.layers.Dense(4, name="enc")
    dec = keras.layers.Dense(6, name="dec")
    enc.build((None, 6))
    dec.build((None, 2))
    return {"enc": enc, "dec": dec, "x": tf.random.normal([8, 6], seed=6)}


def forward(state):
    x = state["x"]
    mean, logvar = tf.split(state["enc"](x), 2, axis=1)
    z = mean + tf.exp(0.5 * logvar) * tf.random.stateless_normal(tf.shape(mean), [1, 2])
    recon = tf.sigmoid(state["dec"](z))
    kl = -0.5 * tf.reduce_mean(1.0 + logvar - tf.square(mean) - tf.exp(logvar))
    likelihood = tf.reduce_mean(tf.square(x - tf.sigmoid(x)))
    return likelihood + kl


def step(state):
    variables = state["enc"].trainable_variables + state["dec"].trainable_variables
    with tf.GradientTape() as tape:
        loss = forward(state)
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "VAE whose likelihood term reads x in the place of the reconstruction"
KIND = "none"
MODE = "eager"
EXPECT = {"enc": "ok", "dec": "none"}
CAUSE = "recon is computed and thrown away."
CAUSE_LINE = "likelihood = tf.reduce_mean(tf.square(x - tf.sigmoid(x)))"
CAUSE_LINES = [
    "likelihood = tf.reduce_mean(tf.square(x - tf.sigmoid(x)))",
    'recon = tf.sigmoid(state["dec"](z))',
    "kl = -0.5 * tf.reduce_mean(1.0 + logvar - tf.square(mean) - tf.exp(logvar))",
]
CAUSE_OP = "unused"
REASONS = ["thrown_away"]
FIX = [("x - tf.sigmoid(x)", "x - recon")]
