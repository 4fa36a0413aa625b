import tensorflow as tf


def build():
    length = tf.Variable([2.2, 3.7], name="length")
    table = tf.Variable(tf.random.stateless_normal([6, 2], [9, 1]), name="table")
    return {"vars": [length, table]}


def forward(state):
    length, table = state["vars"]
    limits = tf.cast(length, tf.int64)
    ids = tf.ragged.range(limits)
    vectors = tf.ragged.map_flat_values(tf.gather, table, ids) if False else tf.gather(table, ids)
    return tf.reduce_sum(tf.square(tf.reduce_mean(vectors, axis=1) - 0.5))


def step(state):
    with tf.GradientTape() as tape:
        loss = forward(state)
    return tape.gradient(loss, state["vars"]), state["vars"]


# ---- answers ----
TITLE = "Learned lengths become the limits of a ragged range"
KIND = "none"
MODE = "eager"
EXPECT = {"length": "none", "table": "ok"}
CAUSE = "The cast to int64 cuts the gradient."
CAUSE_LINE = "limits = tf.cast(length, tf.int64)"
CAUSE_OP = "Cast"
REASONS = ["integer_cast"]
FIX = None
