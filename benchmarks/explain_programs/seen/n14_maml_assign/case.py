import tensorflow as tf


def build():
    slow = tf.Variable([[0.5], [-0.3]], name="slow")
    fast = tf.Variable(tf.zeros([2, 1]), trainable=False, name="fast")
    lr = tf.Variable(0.1, name="inner_lr")
    return {
        "vars": [slow, lr],
        "fast": fast,
        "x": tf.constant([[1.0, 2.0], [0.5, -1.0]]),
        "y": tf.constant([[1.0], [0.0]]),
    }


def step(state):
    slow, lr = state["vars"]
    fast, x, y = state["fast"], state["x"], state["y"]
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner_loss = tf.reduce_mean(tf.square(x @ slow - y))
        g = inner.gradient(inner_loss, slow)
        fast.assign(slow - lr * g)
        loss = tf.reduce_mean(tf.square(x[:1] @ fast - y[:1]))
    return outer.gradient(loss, state["vars"]), state["vars"]


# ---- answers ----
TITLE = "MAML: the adapted weights are put into a variable with assign"
KIND = "none"
MODE = "eager"
EXPECT = {"slow": "none", "inner_lr": "none"}
CAUSE = "assign cuts the outer gradient: the second loss sees the variable, not how its value came about."
CAUSE_LINE = "fast.assign(slow - lr * g)"
CAUSE_OP = "AssignVariableOp"
REASONS = ["assigned"]
FIX = [("fast.assign(slow - lr * g)", "fast = slow - lr * g")]
