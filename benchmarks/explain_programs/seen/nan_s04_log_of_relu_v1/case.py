import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def build():
    graph = tf.Graph()
    with graph.as_default():
        v1.set_random_seed(104)
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        y = v1.placeholder(tf.float32, [None, 2], name="y")
        w = v1.get_variable("w", initializer=np.array([[0.4, -0.3], [0.2, -0.5], [0.1, -0.2]], "float32"), use_resource=True)
        b = v1.get_variable("b", initializer=np.zeros(2, "float32"), use_resource=True)
        p = tf.nn.relu(tf.matmul(x, w) + b)
        loss = -tf.reduce_mean(tf.reduce_sum(y * tf.math.log(p), axis=1))
        grads = tf.gradients(loss, [w, b])
        train_op = v1.train.AdamOptimizer(0.01).apply_gradients(zip(grads, [w, b]))
        start = v1.global_variables_initializer()
    session = v1.Session(graph=graph)
    session.run(start)
    feed = {x: np.ones((2, 3), "float32"), y: np.array([[1, 0], [1, 0]], "float32")}
    return {"graph": graph, "session": session, "feed": feed, "loss": loss, "grads": grads, "variables": [w, b],
            "train_op": train_op}


def step(state):
    values, loss, _ = state["session"].run([state["grads"], state["loss"], state["train_op"]], state["feed"])
    state["last_loss"] = float(loss)
    return values, state["variables"]


# ---- answers ----
TITLE = "Cross-entropy by hand on the output of a ReLU (TF1 graph)"
KIND = "nan"
MODE = "graph_v1"
EXPECT = {"w": "nan", "b": "nan"}
CAUSE = "The second ReLU is off, log(0) is -Inf, and 0 times -Inf is NaN."
CAUSE_LINE = "loss = -tf.reduce_mean(tf.reduce_sum(y * tf.math.log(p), axis=1))"
CAUSE_OP = "Log"
REASONS = ["log_of_zero", "derivative_of_log_at_zero"]
FIX = [("tf.math.log(p)", "tf.math.log(p + 1e-7)"), ("[[1, 0], [1, 0]]", "[[1, 0], [0.5, 0.5]]"), ("[0.4, -0.3]", "[0.4, 1.3]")]
