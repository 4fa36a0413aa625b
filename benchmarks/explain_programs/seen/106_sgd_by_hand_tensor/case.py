import numpy as np
import tensorflow as tf


def build():
    rng = np.random.default_rng(6)
    x = tf.constant(rng.normal(size=(30, 4)), tf.float32)
    y = tf.constant(rng.normal(size=(30, 1)), tf.float32)
    return {"params": {"w": tf.Variable(tf.zeros([4, 1]), name="w"), "b": tf.Variable(tf.zeros([1]), name="b")},
            "x": x, "y": y, "lr": 0.1}


def loss_fn(params, x, y):
    pred = tf.matmul(x, params["w"]) + params["b"]
    return tf.reduce_mean(tf.square(pred - y))


def step(state):
    params = state["params"]
    names = sorted(params)
    with tf.GradientTape() as tape:
        loss = loss_fn(params, state["x"], state["y"])
    variables = [params[n] for n in names]
    grads = tape.gradient(loss, variables)
    for n, g in zip(names, grads):
        if g is not None:
            params[n] = params[n] - state["lr"] * g
    return grads, variables


# ---- answers ----
TITLE = "Gradient descent by hand: works once, then every gradient is None"
SOURCE = "https://www.tensorflow.org/guide/autodiff"
KIND = "none"
MODE = "eager"
STEPS = 3
EXPECT_FIRST = {"w": "ok", "b": "ok"}
EXPECT = {"<tensor": "none"}
CAUSE = "params[n] - lr*g is a plain tensor; after the first update the tape no longer watches the parameters."
CAUSE_LINE = 'params[n] = params[n] - state["lr"] * g'
CAUSE_OP = "replaced"
FIX = [('params[n] = params[n] - state["lr"] * g', 'params[n].assign_sub(state["lr"] * g)')]
