import tensorflow as tf

weights = [tf.Variable(tf.random.stateless_normal([3], [i, 1]), name=f"w{i}") for i in range(2)]
samples = tf.constant([[1.0, 0.5, -1.0], [0.2, 2.0, 0.3]])


def build():
    return {"weights": weights, "samples": samples}


def step(state):
    with tf.GradientTape() as tape:
        penalty = 0.0
        for w in state["weights"]:
            penalty += float(tf.reduce_sum(tf.abs(w)))
        loss = tf.constant(penalty)
    return tape.gradient(loss, state["weights"]), state["weights"]


# ---- answers ----
NOTEBOOK = True
TITLE = "A penalty summed up as a Python float in a notebook"
KIND = "none"
MODE = "eager"
EXPECT = {"w0": "none", "w1": "none"}
CAUSE = "float() takes the value out of TensorFlow."
CAUSE_LINE = "penalty += float(tf.reduce_sum(tf.abs(w)))"
CAUSE_OP = "numpy"
REASONS = ["numpy"]
FIX = [("float(tf.reduce_sum(tf.abs(w)))", "tf.reduce_sum(tf.abs(w))"), ("tf.constant(penalty)", "penalty")]
