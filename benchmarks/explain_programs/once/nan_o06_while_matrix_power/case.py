import tensorflow as tf


def build():
    transition = tf.Variable(1.5 * tf.random.stateless_normal([12, 12], [2, 206]), name="transition")
    readout = tf.Variable(tf.random.stateless_normal([12, 1], [3, 206]), name="readout")

    @tf.function
    def train_step(start, turns):
        with tf.GradientTape() as tape:
            i, h = tf.constant(0), start
            while i < turns:
                h = tf.matmul(h, transition)
                i += 1
            loss = tf.reduce_mean(tf.square(tf.matmul(h, readout)))
        return tape.gradient(loss, [transition, readout])

    return {"variables": [transition, readout], "train_step": train_step}


def step(state):
    return state["train_step"](tf.ones([2, 12]), tf.constant(120)), state["variables"]


# ---- answers ----
TITLE = "A linear recurrence with a spectral radius of about 5, in an AutoGraph while loop"
KIND = "nan"
MODE = "function"
EXPECT = {"transition": "nan", "readout": "nan"}
CAUSE = "Each turn multiplies the state by the matrix; after 120 turns it exceeds float32."
CAUSE_LINE = "transition = tf.Variable(1.5 * tf.random.stateless_normal([12, 12], [2, 206]), name=\"transition\")"
CAUSE_OP = "MatMul"
REASONS = ["growth_in_recurrence"]
FIX = [("1.5 * tf.random", "0.3 * tf.random")]
