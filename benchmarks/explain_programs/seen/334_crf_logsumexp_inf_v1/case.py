import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def log_sum_exp(x, axis):
    top = tf.reduce_max(x, axis=axis, keepdims=True)
    return tf.squeeze(top, axis) + tf.math.log(tf.reduce_sum(tf.exp(x - top), axis=axis))


def build():
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [5, 3], name="frames")
        emit = v1.get_variable("emit", [3, 4], use_resource=True, initializer=v1.random_normal_initializer(seed=4))
        trans = v1.get_variable("trans", [4, 4], use_resource=True, initializer=v1.random_normal_initializer(seed=5))
        allowed = np.ones((4, 4), bool)
        allowed[:, 3] = False                     # nothing may enter the start tag
        arcs = tf.where(allowed, trans, tf.fill([4, 4], -np.inf))
        score = tf.matmul(x, emit)
        alpha = score[0]
        for t in range(1, 5):
            alpha = log_sum_exp(alpha[:, None] + arcs, 0) + score[t]
        loss = log_sum_exp(alpha[None, :], 1)[0] - tf.reduce_sum(score[:, 1])
        variables = [emit, trans]
        grads = tf.gradients(loss, variables)
        init = v1.global_variables_initializer()
    session = v1.Session(graph=graph)
    session.run(init)
    feed = {x: np.random.default_rng(334).normal(size=(5, 3))}
    return {"graph": graph, "session": session, "feed": feed, "loss": loss, "grads": grads, "variables": variables}


def step(state):
    return state["session"].run(state["grads"], state["feed"]), state["variables"]


# ---- answers ----
TITLE = "CRF forward algorithm with a forbidden tag (TF1)"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/38416"
KIND = "nan"
MODE = "graph_v1"
EXPECT = {"emit": "nan", "trans": "nan"}
CAUSE = "For the forbidden tag all arcs are -inf, so x - top is -inf - (-inf) = NaN."
CAUSE_LINE = "return tf.squeeze(top, axis) + tf.math.log(tf.reduce_sum(tf.exp(x - top), axis=axis))"
CAUSE_OP = "Sub"
FIX = [("tf.fill([4, 4], -np.inf)", "tf.fill([4, 4], -1e4)")]
