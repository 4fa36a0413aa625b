import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(7)
    enc = keras.layers.Dense(4, name="enc")
    dec = keras.layers.Dense(6, name="dec")
    enc.build((None, 6))
    dec.build((None, 4))
    variables = enc.trainable_variables + dec.trainable_variables

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            logits = enc(x)
            picked = tf.random.categorical(logits, 1)[:, 0]
            code = tf.one_hot(picked, 4)
            loss = tf.reduce_mean(tf.square(dec(code) - x))
        return tape.gradient(loss, variables)

    return {"variables": variables, "train_step": train_step, "x": tf.random.normal([16, 6], seed=8)}


def step(state):
    return state["train_step"](state["x"]), state["variables"]


# ---- answers ----
TITLE = "Discrete VAE that samples its code with tf.random.categorical"
KIND = "none"
MODE = "function"
EXPECT = {"enc": "none", "dec": "ok"}
CAUSE = "Drawing a category is not differentiable; Gumbel-softmax would be."
CAUSE_LINE = "picked = tf.random.categorical(logits, 1)[:, 0]"
CAUSE_OP = "Multinomial"
REASONS = ["sampling"]
FIX = [
    ("picked = tf.random.categorical(logits, 1)[:, 0]", "picked = tf.nn.softmax(logits)"),
    ("tf.one_hot(picked, 4)", "picked"),
]
