import tensorflow as tf


def build():
    scale = tf.Variable([1.0, 1.0], name="scale")
    shift = tf.Variable([0.0, 0.0], name="shift")
    x = tf.constant([[10000.1, 3.0], [10000.1, 5.0], [10000.1, 4.0]])
    return {"variables": [scale, shift], "x": x}


def normalise(x, scale, shift):
    mean = tf.reduce_mean(x, axis=0)
    spread = tf.reduce_mean(x * x, axis=0) - mean * mean - 1.0
    return (x - mean) / tf.sqrt(spread) * scale + shift


def step(state):
    scale, shift = state["variables"]
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(normalise(state["x"], scale, shift) - 0.5))
    return tape.gradient(loss, [scale, shift]), [scale, shift]


# ---- answers ----
TITLE = "A variance computed as E[x^2] - E[x]^2 comes out negative"
KIND = "nan"
MODE = "eager"
EXPECT = {"scale": "nan", "shift": "nan"}
CAUSE = "Cancellation makes the variance of the constant column negative; its square root is NaN."
CAUSE_LINE = "return (x - mean) / tf.sqrt(spread) * scale + shift"
CAUSE_OP = "Sqrt"
REASONS = ["root_of_negative"]
FIX = [("tf.sqrt(spread)", "tf.sqrt(tf.maximum(spread, 1e-3))")]
