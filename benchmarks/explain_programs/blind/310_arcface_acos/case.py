import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(310)
    proto = np.eye(4, 6).astype("float32")
    net = keras.layers.Dense(6, name="embed")
    net.build((None, 5))
    centre = tf.Variable(proto, name="centre")
    x = np.random.default_rng(310).normal(size=(8, 5)).astype("float32")
    return {"net": net, "centre": centre, "x": tf.constant(x), "y": tf.constant([0, 1, 2, 3] * 2)}


def arc_logits(emb, centre, labels, m=0.3, s=8.0):
    emb = tf.math.l2_normalize(emb, 1)
    cen = tf.math.l2_normalize(centre, 1)
    cos = tf.matmul(emb, cen, transpose_b=True)
    theta = tf.acos(cos)
    hot = tf.one_hot(labels, 4)
    between = tf.acos(tf.matmul(cen, cen, transpose_b=True))
    spread = -tf.reduce_mean(between)
    return s * tf.cos(theta + m * hot), spread


def step(state):
    variables = state["net"].trainable_variables + [state["centre"]]
    with tf.GradientTape() as tape:
        logits, spread = arc_logits(state["net"](state["x"]), state["centre"], state["y"])
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(state["y"], logits)) + 0.1 * spread
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "ArcFace with a term that spreads the class centres"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/57786"
KIND = "nan"
MODE = "eager"
EXPECT = {"embed": "ok", "kernel": "ok", "bias": "ok", "centre": "nan"}
CAUSE = "Every centre has cosine 1 with itself: acos'(1) = -1/sqrt(0)."
CAUSE_LINE = "between = tf.acos(tf.matmul(cen, cen, transpose_b=True))"
CAUSE_OP = "Acos"
FIX = [("between = tf.acos(tf.matmul(cen, cen, transpose_b=True))", "between = tf.acos(0.99 * tf.matmul(cen, cen, transpose_b=True))")]
