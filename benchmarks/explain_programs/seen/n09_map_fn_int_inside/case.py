import tensorflow as tf


def build():
    gain = tf.Variable(2.5, name="gain")
    shift = tf.Variable(0.1, name="shift")
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    @tf.function
    def train_step():
        def one_row(row):
            level = tf.cast(row * gain, tf.int32)
            return tf.cast(level, tf.float32)

        with tf.GradientTape() as tape:
            rows = tf.map_fn(one_row, x)
            loss = tf.reduce_mean(tf.square(rows + shift))
        return tape.gradient(loss, [gain, shift])

    return {"vars": [gain, shift], "train_step": train_step}


def step(state):
    return state["train_step"](), state["vars"]


# ---- answers ----
TITLE = "tf.map_fn whose function casts to int and back"
KIND = "zero"
MODE = "function"
EXPECT = {"gain": "zero", "shift": "ok"}
CAUSE = "The cast to int32 inside map_fn cuts the gradient; because it sits in a loop the answer is 0 and not None."
CAUSE_LINE = "level = tf.cast(row * gain, tf.int32)"
CAUSE_OP = "Cast"
REASONS = ["integer_cast"]
FIX = [("tf.cast(row * gain, tf.int32)", "row * gain")]
