import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def build():
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        y = v1.placeholder(tf.float32, [None, 2], name="y")
        k = v1.get_variable("gate_k", [3, 2], use_resource=True, initializer=v1.random_normal_initializer(seed=1))
        b = v1.get_variable("gate_b", [2], use_resource=True, initializer=v1.constant_initializer(12.0))
        o = v1.get_variable("out_k", [2, 2], use_resource=True, initializer=v1.random_normal_initializer(seed=3))
        pre = tf.matmul(x, k) + b
        gate = tf.minimum(tf.maximum(0.2 * pre + 0.5, 0.0), 1.0)
        loss = tf.reduce_mean(tf.square(tf.matmul(gate, o) - y))
        variables = [k, b, o]
        grads = tf.gradients(loss, variables)
        train_op = v1.train.GradientDescentOptimizer(0.01).apply_gradients(zip(grads, variables))
        init = v1.global_variables_initializer()
    session = v1.Session(graph=graph)
    session.run(init)
    rng = np.random.default_rng(210)
    feed = {x: rng.normal(size=(8, 3)), y: rng.normal(size=(8, 2))}
    return {"graph": graph, "session": session, "feed": feed, "loss": loss, "grads": grads,
            "variables": variables, "train_op": train_op}


def step(state):
    values, _ = state["session"].run([state["grads"], state["train_op"]], state["feed"])
    return values, state["variables"]


# ---- answers ----
TITLE = "Hard sigmoid gate with a large bias is saturated (TF1)"
SOURCE = "https://mull-overthing.com/why-does-sigmoid-kill-the-gradient"
KIND = "zero"
MODE = "graph_v1"
EXPECT = {"gate_k": "zero", "gate_b": "zero", "out_k": "ok"}
CAUSE = "0.2*pre + 0.5 is above 1 for every sample, where minimum(..., 1) is flat."
CAUSE_LINE = "gate = tf.minimum(tf.maximum(0.2 * pre + 0.5, 0.0), 1.0)"
CAUSE_OP = "Minimum"
FIX = [("constant_initializer(12.0)", "constant_initializer(0.0)")]
