import tensorflow as tf


def build():
    logits = tf.Variable(tf.random.stateless_normal([40], [1, 214]) - 3.0, name="logits")
    hits = tf.constant([1.0] * 40)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            likelihood = tf.constant(1.0)
            p = tf.sigmoid(logits)
            for t in tf.range(40):
                likelihood *= hits[t] * p[t] + (1.0 - hits[t]) * (1.0 - p[t])
            loss = -tf.math.log(likelihood)
        return tape.gradient(loss, [logits])

    return {"logits": logits, "train_step": train_step}


def step(state):
    return state["train_step"](), [state["logits"]]


# ---- answers ----
TITLE = "A likelihood multiplied up over forty steps underflows to 0 before its logarithm is taken"
KIND = "nan"
MODE = "function"
EXPECT = {"logits": "nan"}
CAUSE = "The product of forty small probabilities is 0 in float32; log(0) and its derivative are infinite."
CAUSE_LINE = "loss = -tf.math.log(likelihood)"
CAUSE_OP = "Log"
REASONS = ["log_of_zero", "derivative_of_log_at_zero"]
FIX = [("- 3.0, name", "+ 1.0, name")]
