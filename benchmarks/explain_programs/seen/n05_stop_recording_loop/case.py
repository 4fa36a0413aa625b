import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(5)
    enc = keras.layers.Dense(3, name="enc")
    head = keras.layers.Dense(1, name="head")
    enc.build((None, 4))
    head.build((None, 3))
    variables = enc.trainable_variables + head.trainable_variables

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            with tape.stop_recording():
                h = tf.nn.relu(enc(x))
                usage = tf.reduce_mean(tf.cast(h > 0.0, tf.float32))
            loss = tf.reduce_mean(tf.square(head(h) - 1.0)) + 0.0 * usage
        return tape.gradient(loss, variables)

    return {"variables": variables, "train_step": train_step, "x": tf.random.normal([6, 4], seed=6)}


def step(state):
    return state["train_step"](state["x"]), state["variables"]


# ---- answers ----
TITLE = "The encoder runs inside tape.stop_recording() by mistake"
KIND = "none"
MODE = "function"
EXPECT = {"enc": "none", "head": "ok"}
CAUSE = "h is computed while the tape does not record."
CAUSE_LINE = "h = tf.nn.relu(enc(x))"
CAUSE_OP = "outside_tape"
REASONS = ["stop_recording", "outside_tape"]
FIX = [("            with tape.stop_recording():\n", "            if True:\n")]
