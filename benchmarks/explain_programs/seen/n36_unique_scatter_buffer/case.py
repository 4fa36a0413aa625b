import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(36)
    proj = keras.layers.Dense(2, name="proj")
    proj.build((None, 3))
    bias = tf.Variable([0.0, 0.1], name="bias")
    queue = tf.Variable(tf.zeros([6, 2]), trainable=False, name="queue")
    variables = [*proj.trainable_variables, bias]

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            keys = proj(x)
            queue.scatter_nd_update([[0], [3]], keys)
            loss = tf.reduce_mean(tf.square(queue + bias - 1.0))
        return tape.gradient(loss, variables)

    return {"variables": variables, "train_step": train_step, "x": tf.random.normal([2, 3], seed=37)}


def step(state):
    return state["train_step"](state["x"]), state["variables"]


# ---- answers ----
TITLE = "A memory queue kept in a variable with scatter_nd_update"
KIND = "none"
MODE = "function"
EXPECT = {"proj": "none", "bias": "ok"}
CAUSE = "The keys are written into a variable; reading it back carries no gradient."
CAUSE_LINE = "queue.scatter_nd_update([[0], [3]], keys)"
CAUSE_OP = "ResourceScatterNdUpdate"
REASONS = ["assigned"]
FIX = [
    ("queue.scatter_nd_update([[0], [3]], keys)", "mixed = tf.tensor_scatter_nd_update(queue, [[0], [3]], keys)"),
    ("queue + bias", "mixed + bias"),
]
