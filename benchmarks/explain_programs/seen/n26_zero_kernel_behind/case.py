import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(26)
    net = keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(6, activation="sigmoid", name="features"),
            keras.layers.Dense(2, kernel_initializer="zeros", name="logits"),
        ]
    )
    return {"net": net, "x": tf.random.normal([8, 4], seed=27), "y": tf.one_hot([0, 1, 1, 0, 1, 1, 1, 0], 2)}


def step(state):
    variables = state["net"].trainable_variables
    with tf.GradientTape() as tape:
        logits = state["net"](state["x"])
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=state["y"], logits=logits))
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "The last kernel starts at zero, so that the layer before it gets a gradient of zero"
KIND = "zero"
MODE = "eager"
EXPECT = {"features": "zero", "logits": "ok"}
CAUSE = "The gradient of 'features' is multiplied by the kernel of 'logits', which is all zeros."
CAUSE_LINE = 'keras.layers.Dense(2, kernel_initializer="zeros", name="logits")'
CAUSE_OP = "MatMul"
REASONS = ["zero_weights"]
FIX = [('kernel_initializer="zeros", ', "")]
