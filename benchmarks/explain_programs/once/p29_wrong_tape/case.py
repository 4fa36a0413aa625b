import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(29)
    net = keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(4, activation="tanh", name="low"), keras.layers.Dense(1, name="high")]
    )
    return {"net": net, "x": tf.random.normal([5, 3], seed=30)}


def step(state):
    net, x = state["net"], state["x"]
    with tf.GradientTape() as model_tape:
        pred = net(x)
    with tf.GradientTape() as loss_tape:
        loss = tf.reduce_mean(tf.square(pred - 1.0))
    return loss_tape.gradient(loss, net.trainable_variables), net.trainable_variables


# ---- answers ----
TITLE = "One tape for the model and another for the loss"
KIND = "none"
MODE = "eager"
EXPECT = {"low": "none", "high": "none"}
CAUSE = "The prediction was recorded by model_tape, the gradient is asked of loss_tape."
CAUSE_LINE = "pred = net(x)"
CAUSE_OP = "outside_tape"
REASONS = ["other_tape", "outside_tape"]
FIX = [
    ("    with tf.GradientTape() as loss_tape:\n", "    with model_tape:\n"),
    ("with tf.GradientTape() as model_tape", "with tf.GradientTape(persistent=True) as model_tape"),
    ("loss_tape.gradient(loss", "model_tape.gradient(loss"),
]
