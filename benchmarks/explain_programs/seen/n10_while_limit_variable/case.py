import tensorflow as tf


def build():
    limit = tf.Variable(3.0, name="limit")
    rate = tf.Variable(1.1, name="rate")

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            value = tf.constant(1.0)
            steps = tf.constant(0.0)
            while steps < limit:
                value = value * rate
                steps += 1.0
            loss = tf.square(value - 2.0)
        return tape.gradient(loss, [limit, rate])

    return {"vars": [limit, rate], "train_step": train_step}


def step(state):
    return state["train_step"](), state["vars"]


# ---- answers ----
TITLE = "A variable that only says how long a loop runs"
KIND = "zero"
MODE = "function"
EXPECT = {"limit": "zero", "rate": "ok"}
CAUSE = "limit enters the condition of the while loop only; a loop has no derivative with respect to its length."
CAUSE_LINE = "while steps < limit:"
CAUSE_OP = "Less"
REASONS = ["comparison", "branch_condition"]
FIX = None
