import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def build():
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [4, 6], name="x")
        slot = v1.placeholder(tf.int32, [4], name="slot")
        y = v1.placeholder(tf.float32, [4], name="y")
        enc = v1.get_variable("encode", [6, 5], use_resource=True,
                              initializer=v1.random_normal_initializer(stddev=0.3, seed=1))
        memory = v1.get_variable("memory", [10, 5], trainable=False, use_resource=True,
                                 initializer=v1.zeros_initializer())
        read = v1.get_variable("read", [5, 1], use_resource=True,
                               initializer=v1.random_normal_initializer(stddev=0.3, seed=2))
        coded = tf.tanh(tf.matmul(x, enc))
        written = v1.scatter_update(memory, slot, coded)
        with tf.control_dependencies([written]):
            rows = tf.gather(memory, slot)
        pred = tf.squeeze(tf.matmul(rows, read), -1)
        loss = tf.reduce_mean(tf.square(pred - y))
        variables = [enc, read]
        grads = tf.gradients(loss, variables)
        init = v1.global_variables_initializer()
    session = v1.Session(graph=graph)
    session.run(init)
    rng = np.random.default_rng(24)
    feed = {x: rng.normal(size=(4, 6)), slot: [1, 3, 5, 8], y: rng.normal(size=4)}
    return {"graph": graph, "session": session, "feed": feed, "loss": loss, "grads": grads, "variables": variables}


def step(state):
    live = [g for g in state["grads"] if g is not None]
    values = iter(state["session"].run(live, state["feed"]))
    return [None if g is None else next(values) for g in state["grads"]], state["variables"]


# ---- answers ----
TITLE = "Memory network writes its code with scatter_update (TF1)"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/17735"
KIND = "none"
MODE = "graph_v1"
EXPECT = {"encode": "none", "read": "ok"}
CAUSE = "scatter_update is an assignment to a variable, which has no gradient."
CAUSE_LINE = "written = v1.scatter_update(memory, slot, coded)"
CAUSE_OP = "ResourceScatterUpdate"
FIX = [("        written = v1.scatter_update(memory, slot, coded)\n", ""),
       ("        with tf.control_dependencies([written]):\n            rows = tf.gather(memory, slot)\n", "        rows = coded\n")]
