import tensorflow as tf


def build():
    weight = tf.Variable([0.4, 1.6, 2.2], name="weight")
    table = tf.Variable(tf.random.stateless_normal([4, 2], [1, 1]), name="table")

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            counts = tf.saturate_cast(weight, tf.int32)
            sp = tf.sparse.SparseTensor([[0, 1], [1, 0], [1, 3]], counts, [2, 4])
            dense = tf.cast(tf.sparse.to_dense(sp), tf.float32)
            loss = tf.reduce_mean(tf.square(tf.matmul(dense, table) - 1.0))
        return tape.gradient(loss, [weight, table])

    return {"vars": [weight, table], "train_step": train_step}


def step(state):
    return state["train_step"](), state["vars"]


# ---- answers ----
TITLE = "Sparse counts made of a float variable"
KIND = "none"
MODE = "function"
EXPECT = {"weight": "none", "table": "ok"}
CAUSE = "saturate_cast to int32 turns the weights into counts."
CAUSE_LINE = "counts = tf.saturate_cast(weight, tf.int32)"
CAUSE_OP = "Cast"
REASONS = ["integer_cast"]
FIX = [("counts = tf.saturate_cast(weight, tf.int32)", "counts = weight * 1.0")]
