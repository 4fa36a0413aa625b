import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(14)
    net = keras.Sequential(
        [
            keras.Input((3,)),
            keras.layers.Dense(4, name="lin"),
            keras.layers.BatchNormalization(name="norm"),
            keras.layers.Dense(1, name="top"),
        ]
    )
    return {"net": net, "x": tf.random.normal([8, 3], seed=15)}


def step(state):
    net = state["net"]
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(state["x"], training=True) - 1.0))
    grads = tape.gradient(loss, net.weights)
    return grads, net.weights


# ---- answers ----
TITLE = "model.weights instead of model.trainable_variables"
KIND = "none"
MODE = "eager"
EXPECT = {
    "lin": "ok",
    "top": "ok",
    "norm/gamma": "ok",
    "norm/beta": "ok",
    "moving_mean": "none",
    "moving_variance": "none",
}
CAUSE = "The moving statistics of batch normalisation are not trainable; hand over trainable_variables."
CAUSE_LINE = "grads = tape.gradient(loss, net.weights)"
CAUSE_LINES = ["grads = tape.gradient(loss, net.weights)", 'keras.layers.BatchNormalization(name="norm")']
CAUSE_OP = "not_trainable"
REASONS = ["not_trainable"]
FIX = None
