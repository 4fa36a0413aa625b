import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(305)
    net = keras.Sequential([keras.Input((6,)), keras.layers.Dense(12, activation="relu", name="pose1"),
                            keras.layers.Dense(2, use_bias=False, name="pose2")])
    rng = np.random.default_rng(35)
    x = rng.normal(size=(10, 6)).astype("float32")
    x[7] = 0.0                                   # sensor drop-out
    return {"net": net, "x": tf.constant(x), "yaw": tf.constant(rng.uniform(-1, 1, 10), tf.float32),
            "opt": keras.optimizers.SGD(0.01)}


def heading_loss(net, x, yaw):
    xy = net(x)
    pred = tf.math.atan2(xy[:, 1], xy[:, 0])
    err = tf.math.atan2(tf.sin(pred - yaw), tf.cos(pred - yaw))
    return tf.reduce_mean(tf.square(err))


def step(state):
    net = state["net"]
    with tf.GradientTape() as tape:
        loss = heading_loss(net, state["x"], state["yaw"])
    grads = tape.gradient(loss, net.trainable_variables)
    state["opt"].apply(grads, net.trainable_variables)
    return grads, net.trainable_variables


# ---- answers ----
TITLE = "Heading from a two-component output; one reading is all zero"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/6095"
KIND = "nan"
MODE = "eager"
EXPECT = {"pose1": "nan", "pose2": "nan"}
CAUSE = "atan2(0, 0): the gradient divides by x^2 + y^2 = 0."
CAUSE_LINE = "pred = tf.math.atan2(xy[:, 1], xy[:, 0])"
CAUSE_OP = "Atan2"
FIX = [("tf.math.atan2(xy[:, 1], xy[:, 0])", "tf.math.atan2(xy[:, 1], xy[:, 0] + 1e-3)")]
