import tensorflow as tf


def build():
    codebook = tf.Variable(tf.random.stateless_normal([4, 2], [31, 1]), name="codebook")
    shift = tf.Variable([0.3, -0.2], name="shift")
    x = tf.random.stateless_normal([3, 2], [31, 2])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            moved = x + shift
            far = tf.reduce_sum(tf.square(moved[:, None] - codebook), -1)
            nearest = tf.argmin(far, axis=1)
            quantised = tf.gather(codebook, nearest)
            loss = tf.reduce_mean(tf.square(quantised - x))
        return tape.gradient(loss, [shift, codebook])

    return {"vars": [shift, codebook], "train_step": train_step}


def step(state):
    return state["train_step"](), state["vars"]


# ---- answers ----
TITLE = "Vector quantisation without the straight-through term"
KIND = "none"
MODE = "function"
EXPECT = {"shift": "none", "codebook": "ok"}
CAUSE = "argmin picks a row; what was moved has no path to the loss."
CAUSE_LINE = "nearest = tf.argmin(far, axis=1)"
CAUSE_OP = "ArgMin"
REASONS = ["argmax"]
FIX = [
    (
        "quantised = tf.gather(codebook, nearest)",
        "q = tf.gather(codebook, nearest); quantised = moved + tf.stop_gradient(q - moved) + q - tf.stop_gradient(q)",
    )
]
