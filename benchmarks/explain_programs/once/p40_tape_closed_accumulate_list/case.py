import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(40)
    net = keras.Sequential(
        [
            keras.Input((3,)),
            keras.layers.Dense(4, activation="tanh", name="inside"),
            keras.layers.Dense(1, name="final"),
        ]
    )
    return {"net": net, "x": tf.random.normal([3, 4, 3], seed=41)}


def collect(net, batches):
    return [net(b) for b in batches]


def gradients_of(net, outputs):
    with tf.GradientTape() as tape:
        loss = tf.add_n([tf.reduce_mean(tf.square(o - 1.0)) for o in outputs])
    return tape.gradient(loss, net.trainable_variables)


def step(state):
    net = state["net"]
    outputs = collect(net, state["x"])
    grads = gradients_of(net, outputs)
    return grads, net.trainable_variables


# ---- answers ----
TITLE = "The forward passes and the tape live in two helper functions"
KIND = "none"
MODE = "eager"
EXPECT = {"inside": "none", "final": "none"}
CAUSE = "collect runs the network before gradients_of opens its tape."
CAUSE_LINE = 'outputs = collect(net, state["x"])'
CAUSE_LINES = ['outputs = collect(net, state["x"])', "return [net(b) for b in batches]"]
CAUSE_OP = "outside_tape"
REASONS = ["outside_tape"]
FIX = [
    (
        "    with tf.GradientTape() as tape:\n        loss = tf.add_n",
        "    with tf.GradientTape() as tape:\n        outputs = collect(net, DATA)\n        loss = tf.add_n",
    ),
    ('    net = state["net"]\n    outputs', '    global DATA\n    net = state["net"]; DATA = state["x"]\n    outputs'),
]
