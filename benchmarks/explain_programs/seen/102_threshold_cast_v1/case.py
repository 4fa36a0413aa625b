import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def build():
    graph = tf.Graph()
    with graph.as_default():
        location = v1.placeholder(tf.float32, [None], name="location_input")
        email = v1.placeholder(tf.float32, [None], name="email_input")
        imei = v1.placeholder(tf.float32, [None], name="imei_input")
        target = v1.placeholder(tf.float32, [None], name="target")
        p_loc = v1.get_variable("p_location", initializer=9.0, use_resource=True)
        p_email = v1.get_variable("p_email", initializer=8.0, use_resource=True)
        p_imei = v1.get_variable("p_imei", initializer=3.0, use_resource=True)
        limit = 10.0
        total = location * p_loc + email * p_email + imei * p_imei
        ratio = total / limit
        answer = tf.cast(tf.cast(ratio, tf.int32), tf.float32)
        answer = tf.minimum(answer, 1.0)
        loss = tf.reduce_mean(tf.square(answer - target))
        variables = [p_loc, p_email, p_imei]
        grads = tf.gradients(loss, variables)
        init = v1.global_variables_initializer()
    session = v1.Session(graph=graph)
    session.run(init)
    feed = {location: np.array([1, 0, 1, 0], "float32"), email: np.array([0, 1, 1, 0], "float32"),
            imei: np.array([1, 0, 0, 1], "float32"), target: np.array([1, 0, 1, 0], "float32")}
    return {"graph": graph, "session": session, "feed": feed, "loss": loss, "grads": grads, "variables": variables}


def step(state):
    live = [g for g in state["grads"] if g is not None]
    values = iter(state["session"].run([state["loss"]] + live, state["feed"])[1:])
    return [None if g is None else next(values) for g in state["grads"]], state["variables"]


# ---- answers ----
TITLE = "Fraud score is cut to a whole number before the loss (TF1)"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/47083"
KIND = "none"
MODE = "graph_v1"
EXPECT = {"p_location": "none", "p_email": "none", "p_imei": "none"}
CAUSE = "The ratio is cast to int32 and back; an integer tensor has no gradient."
CAUSE_LINE = "answer = tf.cast(tf.cast(ratio, tf.int32), tf.float32)"
CAUSE_OP = "Cast"
FIX = [("answer = tf.cast(tf.cast(ratio, tf.int32), tf.float32)", "answer = tf.sigmoid(4.0 * (ratio - 1.0))")]
