import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(31)
    scorer = keras.layers.Dense(1, use_bias=False, name="scorer")
    reader = keras.layers.Dense(1, name="reader")
    scorer.build((None, None, 4))
    reader.build((None, 4))
    variables = scorer.trainable_variables + reader.trainable_variables

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            scores = scorer(x)[..., 0]
            best = tf.math.top_k(scores, k=2).indices
            chosen = tf.gather(x, best, batch_dims=1)
            loss = tf.reduce_mean(tf.square(reader(tf.reduce_mean(chosen, 1)) - 1.0))
        return tape.gradient(loss, variables)

    return {"variables": variables, "train_step": train_step, "x": tf.random.normal([3, 5, 4], seed=32)}


def step(state):
    return state["train_step"](state["x"]), state["variables"]


# ---- answers ----
TITLE = "Hard attention: only the indices of top_k are used"
KIND = "none"
MODE = "function"
EXPECT = {"scorer": "none", "reader": "ok"}
CAUSE = "The indices of top_k carry no gradient; its values would."
CAUSE_LINE = "best = tf.math.top_k(scores, k=2).indices"
CAUSE_OP = "TopKV2"
REASONS = ["argmax"]
FIX = [
    ("best = tf.math.top_k(scores, k=2).indices", "soft = tf.nn.softmax(scores)"),
    ("tf.gather(x, best, batch_dims=1)", "x * soft[..., None]"),
]
