import tensorflow as tf


def build():
    level = tf.Variable([3.0, 4.0], name="level")
    bias = tf.Variable([0.1, 0.2], name="bias")

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            safe = tf.clip_by_value(level, -1.0, 1.0)
            loss = tf.reduce_sum(tf.square(safe + bias - 0.5))
        return tape.gradient(loss, [level, bias])

    return {"vars": [level, bias], "train_step": train_step}


def step(state):
    return state["train_step"](), state["vars"]


# ---- answers ----
TITLE = "clip_by_value with every element beyond its bounds"
KIND = "zero"
MODE = "function"
EXPECT = {"level": "zero", "bias": "ok"}
CAUSE = "Outside the bounds the derivative of a clip is 0, so level can never come back."
CAUSE_LINE = "safe = tf.clip_by_value(level, -1.0, 1.0)"
CAUSE_OP = "Minimum"
REASONS = ["clipped"]
FIX = [("tf.clip_by_value(level, -1.0, 1.0)", "tf.tanh(level)")]
