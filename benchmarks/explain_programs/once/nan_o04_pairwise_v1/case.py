import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def build():
    graph = tf.Graph()
    with graph.as_default():
        points = v1.placeholder(tf.float32, [None, 2], name="points")
        wanted = v1.placeholder(tf.float32, [None, None], name="wanted")
        w = v1.get_variable("project", initializer=np.array([[1.0, 0.2], [0.3, 1.0]], "float32"), use_resource=True)
        y = tf.matmul(points, w)
        difference = y[:, None, :] - y[None, :, :]
        squared = tf.reduce_sum(difference * difference, axis=2)
        distance = tf.sqrt(squared)
        stress = tf.reduce_sum(tf.square(distance - wanted))
        optimizer = v1.train.GradientDescentOptimizer(0.001)
        pairs = optimizer.compute_gradients(stress, [w])
        train_op = optimizer.apply_gradients(pairs)
        start = v1.global_variables_initializer()
    session = v1.Session(graph=graph)
    session.run(start)
    feed = {points: np.array([[0, 0], [1, 0], [0, 2]], "float32"), wanted: np.ones((3, 3), "float32")}
    return {"graph": graph, "session": session, "feed": feed, "loss": stress, "grads": [g for g, _ in pairs],
            "variables": [w], "train_op": train_op}


def step(state):
    values, loss, _ = state["session"].run([state["grads"], state["loss"], state["train_op"]], state["feed"])
    state["last_loss"] = float(loss)
    return values, state["variables"]


# ---- answers ----
TITLE = "Matrix of pairwise distances: its diagonal is sqrt(0) (TF1 graph)"
KIND = "nan"
MODE = "graph_v1"
EXPECT = {"project": "nan"}
CAUSE = "Every point has distance 0 from itself, where the derivative of sqrt is infinite."
CAUSE_LINE = "distance = tf.sqrt(squared)"
CAUSE_OP = "Sqrt"
REASONS = ["derivative_of_sqrt_at_zero"]
FIX = [("tf.sqrt(squared)", "tf.sqrt(squared + 1e-9)")]
