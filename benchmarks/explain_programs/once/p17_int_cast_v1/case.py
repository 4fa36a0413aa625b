import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def build():
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        w = v1.get_variable("w", [2, 3], initializer=v1.glorot_uniform_initializer(seed=5), use_resource=True)
        v = v1.get_variable("v", [3, 1], initializer=v1.ones_initializer(), use_resource=True)
        codes = tf.to_int32(tf.matmul(x, w) * 10.0) if hasattr(tf, "to_int32") else tf.cast(tf.matmul(x, w) * 10.0, tf.int32)
        back = tf.cast(codes, tf.float32) / 10.0
        loss = tf.reduce_mean(tf.square(tf.matmul(back, v) - 1.0))
        variables = [w, v]
        grads = tf.gradients(loss, variables)
        train_op = v1.train.GradientDescentOptimizer(0.1).apply_gradients(zip(grads, variables))
        init = v1.global_variables_initializer()
    session = v1.Session(graph=graph)
    session.run(init)
    return {
        "graph": graph,
        "session": session,
        "feed": {x: np.eye(2, dtype="float32")},
        "loss": loss,
        "grads": grads,
        "variables": variables,
        "train_op": train_op,
    }


def step(state):
    live = [g for g in state["grads"] if g is not None]
    values, _ = state["session"].run([live, state["train_op"]], state["feed"])
    values = iter(values)
    return [None if g is None else next(values) for g in state["grads"]], state["variables"]


# ---- answers ----
TITLE = "TF1: activations stored as integers of tenths"
KIND = "none"
MODE = "graph_v1"
EXPECT = {"w": "none", "v": "ok"}
CAUSE = "A cast to int32 carries no gradient."
CAUSE_LINE = "codes = tf.to_int32(tf.matmul(x, w) * 10.0)"
CAUSE_OP = "Cast"
REASONS = ["integer_cast"]
FIX = [("        back = tf.cast(codes, tf.float32) / 10.0", "        back = tf.matmul(x, w)")]
