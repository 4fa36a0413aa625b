import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(30)
    net = keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(4, activation="relu", name="n1"), keras.layers.Dense(2, name="n2")]
    )
    predict = tf.function(net)
    return {"net": net, "predict": predict, "x": tf.random.normal([5, 3], seed=31), "y": tf.constant([0, 1, 1, 0, 1])}


def step(state):
    variables = state["net"].trainable_variables
    logits = state["predict"](state["x"])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=state["y"], logits=logits))
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "A compiled forward pass is called before the tape is opened"
KIND = "none"
MODE = "eager"
EXPECT = {"n1": "none", "n2": "none"}
CAUSE = "The call of the tf.function is outside the tape."
CAUSE_LINE = 'logits = state["predict"](state["x"])'
CAUSE_OP = "outside_tape"
REASONS = ["outside_tape"]
FIX = [
    ('    logits = state["predict"](state["x"])\n', ""),
    ("logits=logits))", 'logits=state["predict"](state["x"])))'),
]
