import tensorflow as tf


def build():
    return {
        "w": tf.Variable([[0.3], [0.7]], name="w"),
        "b": tf.Variable([0.1], name="b"),
        "x": tf.constant([[1.0, 2.0], [3.0, -1.0]]),
        "y": tf.constant([[1.0], [0.0]]),
    }


def step(state):
    params = [state["w"], state["b"]]
    with tf.GradientTape() as tape:
        pred = state["x"] @ state["w"] + state["b"]
        loss = tf.reduce_mean(tf.square(pred - state["y"]))
    grads = tape.gradient(loss, params)
    if grads[0] is not None:
        state["w"] = state["w"] - 0.1 * grads[0]
        state["b"].assign_sub(0.1 * grads[1])
    return grads, params


# ---- answers ----
TITLE = "w = w - lr * g replaces the variable by a tensor; from the second step on its gradient is None"
KIND = "none"
MODE = "eager"
STEPS = 2
EXPECT_FIRST = {"w": "ok", "b": "ok"}
EXPECT = {"<tensor 0>": "none", "b": "ok"}
CAUSE = "After the first update w is an ordinary tensor that no tape watches."
CAUSE_LINE = 'state["w"] = state["w"] - 0.1 * grads[0]'
CAUSE_OP = "replaced"
REASONS = ["replaced_by_tensor"]
FIX = [('state["w"] = state["w"] - 0.1 * grads[0]', 'state["w"].assign_sub(0.1 * grads[0])')]
