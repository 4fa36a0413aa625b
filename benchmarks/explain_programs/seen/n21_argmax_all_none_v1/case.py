import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def build():
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        y = v1.placeholder(tf.float32, [None], name="y")
        w = v1.get_variable("w", [3, 4], initializer=v1.glorot_uniform_initializer(seed=1), use_resource=True)
        logits = tf.matmul(x, w)
        guess = tf.argmax(logits, 1)
        wrong = tf.cast(tf.not_equal(tf.cast(guess, tf.float32), y), tf.float32)
        loss = tf.reduce_mean(wrong)
        variables = [w]
        grads = tf.gradients(loss, variables)
        init = v1.global_variables_initializer()
    session = v1.Session(graph=graph)
    session.run(init)
    feed = {x: np.eye(3, dtype="float32"), y: np.arange(3, dtype="float32")}
    return {"graph": graph, "session": session, "feed": feed, "loss": loss, "grads": grads, "variables": variables}


def step(state):
    state["session"].run(state["loss"], state["feed"])
    return list(state["grads"]), state["variables"]


# ---- answers ----
TITLE = "TF1 graph that minimises its error rate"
KIND = "none"
MODE = "graph_v1"
EXPECT = {"w": "none"}
CAUSE = "argmax has no gradient, nor has the comparison after it."
CAUSE_LINE = "guess = tf.argmax(logits, 1)"
CAUSE_OP = "ArgMax"
REASONS = ["argmax"]
FIX = [
    (
        "        wrong = tf.cast(tf.not_equal(tf.cast(guess, tf.float32), y), tf.float32)\n",
        "        wrong = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.cast(y, tf.int32), logits=logits)\n",
    )
]
