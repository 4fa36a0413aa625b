import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def build():
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        w1 = v1.get_variable("w1", [3, 4], initializer=v1.constant_initializer(-1.0), use_resource=True)
        w2 = v1.get_variable("w2", [4, 1], initializer=v1.ones_initializer(), use_resource=True)
        b2 = v1.get_variable("b2", [1], initializer=v1.zeros_initializer(), use_resource=True)
        hidden = tf.nn.relu(tf.matmul(x, w1))
        loss = tf.reduce_mean(tf.square(tf.matmul(hidden, w2) + b2 - 1.0))
        variables = [w1, w2, b2]
        grads = tf.gradients(loss, variables)
        train_op = v1.train.GradientDescentOptimizer(0.0).apply_gradients(zip(grads, variables))
        init = v1.global_variables_initializer()
    session = v1.Session(graph=graph)
    session.run(init)
    feed = {x: np.abs(np.random.default_rng(0).normal(size=(6, 3))).astype("float32")}
    return {
        "graph": graph,
        "session": session,
        "feed": feed,
        "loss": loss,
        "grads": grads,
        "variables": variables,
        "train_op": train_op,
    }


def step(state):
    values, _ = state["session"].run([state["grads"], state["train_op"]], state["feed"])
    return values, state["variables"]


# ---- answers ----
TITLE = "TF1: negative weights on positive data, the ReLU is off for every row"
KIND = "zero"
MODE = "graph_v1"
EXPECT = {"w1": "zero", "w2": "zero", "b2": "ok"}
CAUSE = "The ReLU is off everywhere."
CAUSE_LINE = "hidden = tf.nn.relu(tf.matmul(x, w1))"
CAUSE_OP = "Relu"
REASONS = ["dead_activation"]
FIX = [("constant_initializer(-1.0)", "constant_initializer(1.0)")]
