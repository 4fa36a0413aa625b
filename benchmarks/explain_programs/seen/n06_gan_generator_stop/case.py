import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(6)
    gen = keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(6, activation="tanh", name="gen_a"), keras.layers.Dense(4, name="gen_b")]
    )
    disc = keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(6, activation="tanh", name="disc_a"),
            keras.layers.Dense(1, name="disc_b"),
        ]
    )
    bce = keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def train_step(real, noise):
        with tf.GradientTape() as d_tape:
            fake = tf.stop_gradient(gen(noise))
            d_loss = bce(tf.ones([8, 1]), disc(real)) + bce(tf.zeros([8, 1]), disc(fake))
        d_grads = d_tape.gradient(d_loss, disc.trainable_variables)
        with tf.GradientTape() as g_tape:
            fake_again = tf.stop_gradient(gen(noise))
            g_loss = bce(tf.ones([8, 1]), disc(fake_again))
        g_grads = g_tape.gradient(g_loss, gen.trainable_variables)
        return g_grads + d_grads

    return {
        "gen": gen,
        "disc": disc,
        "train_step": train_step,
        "real": tf.random.normal([8, 4], seed=7),
        "noise": tf.random.normal([8, 3], seed=8),
    }


def step(state):
    grads = state["train_step"](state["real"], state["noise"])
    return grads, state["gen"].trainable_variables + state["disc"].trainable_variables


# ---- answers ----
TITLE = "GAN: the stop_gradient of the discriminator's half was copied into the generator's half"
KIND = "none"
MODE = "function"
EXPECT = {"gen_": "none", "disc_": "ok"}
CAUSE = "stop_gradient around the generator's output in the generator's own step."
CAUSE_LINE = "fake_again = tf.stop_gradient(gen(noise))"
CAUSE_OP = "StopGradient"
REASONS = ["stop_gradient"]
FIX = [("fake_again = tf.stop_gradient(gen(noise))", "fake_again = gen(noise)")]
