import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(221)
    net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="tanh", name="t1"), keras.layers.Dense(1, name="t2")])
    x = tf.random.normal([3, 4, 3], seed=1)
    y = tf.ones([3, 4, 1])
    valid = tf.constant([[True, True, False, True], [False, False, False, False], [True, False, True, True]])
    return {"net": net, "x": x, "y": y, "valid": valid}


def micro_loss(net, x, y, valid):
    counted = tf.cast(valid, tf.float32)
    error = tf.square(net(x) - y)[:, 0] * counted
    return tf.reduce_sum(error) / tf.reduce_sum(counted)


def step(state):
    net = state["net"]
    total = [tf.zeros_like(v) for v in net.trainable_variables]
    for x, y, valid in zip(state["x"], state["y"], state["valid"]):
        with tf.GradientTape() as tape:
            loss = micro_loss(net, x, y, valid) / 3.0
        total = [t + g for t, g in zip(total, tape.gradient(loss, net.trainable_variables))]
    return total, net.trainable_variables


# ---- answers ----
TITLE = "Gradient accumulation; one micro-batch has no valid sample"
KIND = "nan"
MODE = "eager"
EXPECT = {"t1": "nan", "t2": "nan"}
CAUSE = "The number of valid samples is 0: 0 / 0."
CAUSE_LINE = "return tf.reduce_sum(error) / tf.reduce_sum(counted)"
CAUSE_OP = "RealDiv"
REASONS = ["division_by_zero", "derivative_of_division_at_zero"]
FIX = [("/ tf.reduce_sum(counted)", "/ tf.maximum(tf.reduce_sum(counted), 1.0)")]
