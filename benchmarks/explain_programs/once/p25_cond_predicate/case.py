import tensorflow as tf


def build():
    threshold = tf.Variable(0.2, name="threshold")
    low = tf.Variable(0.5, name="low")
    high = tf.Variable(1.5, name="high")

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            level = tf.reduce_mean(x)
            factor = tf.cond(level > threshold, lambda: high * 1.0, lambda: low * 1.0)
            loss = tf.reduce_sum(tf.square(factor * x + low - 1.0))
        return tape.gradient(loss, [threshold, low, high])

    return {"vars": [threshold, low, high], "train_step": train_step, "x": tf.constant([0.4, 0.8])}


def step(state):
    return state["train_step"](state["x"]), state["vars"]


# ---- answers ----
TITLE = "A threshold that only chooses a branch"
KIND = "none"
MODE = "function"
EXPECT = {"threshold": "none", "low": "ok", "high": "ok"}
CAUSE = "The predicate of tf.cond is a boolean."
CAUSE_LINE = "factor = tf.cond(level > threshold, lambda: high * 1.0, lambda: low * 1.0)"
CAUSE_OP = "Greater"
REASONS = ["comparison", "branch_condition"]
FIX = None
