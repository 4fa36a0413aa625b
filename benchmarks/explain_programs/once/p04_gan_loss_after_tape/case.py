import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(4)
    gen = keras.Sequential(
        [keras.Input((2,)), keras.layers.Dense(5, activation="relu", name="g1"), keras.layers.Dense(3, name="g2")]
    )
    disc = keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(5, activation="relu", name="d1"), keras.layers.Dense(1, name="d2")]
    )
    bce = keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def train_step(real, z):
        with tf.GradientTape() as gt, tf.GradientTape() as dt:
            fake = gen(z)
            p_fake, p_real = disc(fake), disc(real)
            g_loss = bce(tf.ones_like(p_fake), p_fake)
        d_loss = bce(tf.ones_like(p_real), p_real) + bce(tf.zeros_like(p_fake), p_fake)
        return gt.gradient(g_loss, gen.trainable_variables), dt.gradient(d_loss, disc.trainable_variables)

    return {
        "gen": gen,
        "disc": disc,
        "train_step": train_step,
        "real": tf.random.normal([6, 3], seed=5),
        "z": tf.random.normal([6, 2], seed=6),
    }


def step(state):
    g, d = state["train_step"](state["real"], state["z"])
    return list(g) + list(d), state["gen"].trainable_variables + state["disc"].trainable_variables


# ---- answers ----
TITLE = "GAN: the discriminator's loss is computed after both tapes were closed"
KIND = "none"
MODE = "function"
EXPECT = {"g1": "ok", "g2": "ok", "d1": "none", "d2": "none"}
CAUSE = "d_loss is one indentation too far to the left: the tape does not record it."
CAUSE_LINE = "d_loss = bce(tf.ones_like(p_real), p_real) + bce(tf.zeros_like(p_fake), p_fake)"
CAUSE_OP = "outside_tape"
REASONS = ["after_tape", "outside_tape"]
FIX = [("        d_loss = bce(", "            d_loss = bce(")]
