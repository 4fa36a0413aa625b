import tensorflow as tf


@tf.custom_gradient
def soft_sign_root(x):
    y = tf.sign(x) * tf.sqrt(tf.abs(x))

    def grad(dy):
        return dy / (2.0 * tf.abs(y))

    return y, grad


def build():
    w = tf.Variable([0.5, -1.0, 0.25], name="w")
    x = tf.constant([1.0, 0.0, 2.0])
    return {"w": w, "x": x}


def step(state):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(soft_sign_root(state["w"] * state["x"]) - 1.0))
    return tape.gradient(loss, [state["w"]]), [state["w"]]


# ---- answers ----
TITLE = "A custom gradient that divides by its own output"
KIND = "nan"
MODE = "eager"
EXPECT = {"w": "nan"}
CAUSE = "Where the output is 0 the hand-written derivative divides by 0; times the zero input it is NaN."
CAUSE_LINE = "return dy / (2.0 * tf.abs(y))"
CAUSE_OP = "RealDiv"
REASONS = ["division_by_zero", "derivative_of_division_at_zero"]
FIX = [("(2.0 * tf.abs(y))", "(2.0 * tf.abs(y) + 1e-3)")]
