import tensorflow as tf


class Curve:
    def __init__(self):
        self.degree = tf.Variable([1, 2, 3], name="degree")
        self.height = tf.Variable([1.0, 0.5, 0.2], name="height")

    def __call__(self, x):
        power = tf.cast(self.degree, tf.float32)
        return tf.reduce_sum(self.height * x[:, None] ** power, 1)


def build():
    return {"curve": Curve(), "x": tf.constant([0.5, 1.0, 2.0])}


def step(state):
    curve = state["curve"]
    variables = [curve.degree, curve.height]
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(curve(state["x"]) - 1.0))
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "A variable made of Python integers"
KIND = "none"
MODE = "eager"
EXPECT = {"degree": "none", "height": "ok"}
CAUSE = "[1, 2, 3] makes an int32 variable."
CAUSE_LINE = 'self.degree = tf.Variable([1, 2, 3], name="degree")'
CAUSE_OP = "VarHandleOp"
REASONS = ["integer_variable"]
FIX = [("[1, 2, 3]", "[1.0, 2.0, 3.0]")]
