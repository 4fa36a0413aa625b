import tensorflow as tf


def build():
    edges = tf.Variable([0.0, 1.0, 2.0], name="edges")
    heights = tf.Variable([0.1, 0.4, 0.3, 0.2], name="heights")
    return {"vars": [edges, heights], "x": tf.constant([-0.5, 0.3, 1.7, 5.0])}


def lookup(edges, heights, x):
    bin_of = tf.searchsorted(edges, x)
    return tf.gather(heights, bin_of)


def step(state):
    edges, heights = state["vars"]
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(lookup(edges, heights, state["x"]) - 0.25))
    return tape.gradient(loss, [edges, heights]), [edges, heights]


# ---- answers ----
TITLE = "Learned bin edges with searchsorted"
KIND = "none"
MODE = "eager"
EXPECT = {"edges": "none", "heights": "ok"}
CAUSE = "searchsorted answers integer positions."
CAUSE_LINE = "bin_of = tf.searchsorted(edges, x)"
CAUSE_OP = "UpperBound"
OPS = ["UpperBound", "LowerBound"]
REASONS = ["argmax", "comparison", "integer_cast", "integer_result"]
FIX = None
