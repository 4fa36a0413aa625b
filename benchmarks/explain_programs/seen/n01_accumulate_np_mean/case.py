import keras
import numpy as np
import tensorflow as tf


def build():
    keras.utils.set_random_seed(1)
    net = keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(4, activation="tanh", name="body"), keras.layers.Dense(1, name="tail")]
    )
    data = tf.random.normal([4, 6, 3], seed=2)
    return {"net": net, "data": data}


def batch_loss(net, x):
    error = net(x) - 1.0
    return np.mean(np.abs(error))


def step(state):
    net = state["net"]
    variables = net.trainable_variables
    total = [tf.zeros_like(v) for v in variables]
    for x in state["data"]:  # gradient accumulation over four micro-batches
        with tf.GradientTape() as tape:
            loss = tf.convert_to_tensor(batch_loss(net, x)) / 4.0
        grads = tape.gradient(loss, variables)
        total = [t if g is None else t + g for t, g in zip(total, grads)]
    return grads, variables


# ---- answers ----
TITLE = "Gradient accumulation; the loss of a micro-batch is taken with np.mean"
KIND = "none"
MODE = "eager"
EXPECT = {"body": "none", "tail": "none"}
CAUSE = "np.abs and np.mean read the tensor through the buffer protocol; what comes back is a constant."
CAUSE_LINE = "return np.mean(np.abs(error))"
CAUSE_OP = "numpy"
REASONS = ["numpy"]
FIX = [("np.mean(np.abs(error))", "tf.reduce_mean(tf.abs(error))")]
