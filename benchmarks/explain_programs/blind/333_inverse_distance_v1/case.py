import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def build():
    graph = tf.Graph()
    with graph.as_default():
        q = v1.placeholder(tf.float32, [None, 2], name="query")
        y = v1.placeholder(tf.float32, [None], name="value")
        sites = v1.get_variable("sites", initializer=np.array([[0, 0], [1, 0], [0, 1], [1, 1]], "float32"),
                                use_resource=True)
        level = v1.get_variable("level", initializer=np.array([1.0, 2.0, 3.0, 4.0], "float32"), use_resource=True)
        gap = tf.expand_dims(q, 1) - sites
        d2 = tf.reduce_sum(tf.square(gap), axis=-1)
        weight = 1.0 / d2
        weight = tf.minimum(weight, 1e6)
        share = weight / tf.reduce_sum(weight, axis=1, keepdims=True)
        pred = tf.reduce_sum(share * level, axis=1)
        loss = tf.reduce_mean(tf.square(pred - y))
        variables = [sites, level]
        grads = tf.gradients(loss, variables)
        train_op = v1.train.AdamOptimizer(0.001).apply_gradients(zip(grads, variables))
        init = v1.global_variables_initializer()
    session = v1.Session(graph=graph)
    session.run(init)
    rng = np.random.default_rng(333)
    pts = rng.uniform(0, 1, (10, 2))
    pts[6] = [1.0, 0.0]
    feed = {q: pts, y: rng.uniform(1, 4, 10)}
    return {"graph": graph, "session": session, "feed": feed, "loss": loss, "grads": grads,
            "variables": variables, "train_op": train_op}


def step(state):
    values, _ = state["session"].run([state["grads"], state["train_op"]], state["feed"])
    return values, state["variables"]


# ---- answers ----
TITLE = "Inverse distance weighting at a station's own position (TF1)"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/20091"
KIND = "nan"
MODE = "graph_v1"
EXPECT = {"sites": "nan", "level": "ok"}
CAUSE = "1 / d2 at distance 0 is Inf; the minimum repairs the value but not the derivative."
CAUSE_LINE = "weight = 1.0 / d2"
CAUSE_OP = "RealDiv"
FIX = [("weight = 1.0 / d2", "weight = 1.0 / (d2 + 1e-3)")]
