import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def build():
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        y = v1.placeholder(tf.float32, [None, 1], name="y")
        w1 = v1.get_variable("w1", [3, 4], initializer=v1.glorot_uniform_initializer(seed=1), use_resource=True)
        w2 = v1.get_variable("w2", [4, 1], initializer=v1.glorot_uniform_initializer(seed=2), use_resource=True)
        hidden = tf.tanh(tf.matmul(x, w1))
        hidden = tf.stop_gradient(hidden)
        loss = tf.reduce_mean(tf.square(tf.matmul(hidden, w2) - y))
        variables = [w1, w2]
        grads = tf.gradients(loss, variables)
        init = v1.global_variables_initializer()
    session = v1.Session(graph=graph)
    session.run(init)
    feed = {x: np.eye(3, dtype="float32"), y: np.ones([3, 1], "float32")}
    return {"graph": graph, "session": session, "feed": feed, "loss": loss, "grads": grads, "variables": variables}


def step(state):
    live = [g for g in state["grads"] if g is not None]
    values = iter(state["session"].run(live, state["feed"]))
    return [None if g is None else next(values) for g in state["grads"]], state["variables"]


# ---- answers ----
TITLE = "TF1 graph with a stop_gradient between the layers"
KIND = "none"
MODE = "graph_v1"
EXPECT = {"w1": "none", "w2": "ok"}
CAUSE = "stop_gradient cuts w1 off."
CAUSE_LINE = "hidden = tf.stop_gradient(hidden)"
CAUSE_OP = "StopGradient"
REASONS = ["stop_gradient"]
FIX = [("        hidden = tf.stop_gradient(hidden)\n", "")]
