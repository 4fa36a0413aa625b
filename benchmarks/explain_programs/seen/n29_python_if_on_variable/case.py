import tensorflow as tf


def build():
    return {"gate": tf.Variable(0.4, name="gate"), "w": tf.Variable([0.5, 1.5], name="w"), "x": tf.constant([1.0, 2.0])}


def forward(state):
    if state["gate"] > 0.3:
        strength = 1.0
    else:
        strength = 0.1
    return tf.reduce_sum(tf.square(strength * state["w"] * state["x"] - 1.0))


def step(state):
    variables = [state["gate"], state["w"]]
    with tf.GradientTape() as tape:
        loss = forward(state)
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "A variable that a Python if looks at"
KIND = "none"
MODE = "eager"
EXPECT = {"gate": "none", "w": "ok"}
CAUSE = "if turns the comparison into a Python bool; strength is a constant."
CAUSE_LINE = 'if state["gate"] > 0.3:'
CAUSE_OP = "Greater"
REASONS = ["numpy", "comparison", "branch_condition"]
FIX = None
