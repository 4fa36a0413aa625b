import tensorflow as tf


class Attention:
    def __init__(self):
        self.q = tf.Variable(tf.random.stateless_normal([3, 3], [1, 0]), name="q")
        self.k = tf.Variable(tf.random.stateless_normal([3, 3], [2, 0]), name="k")
        self.temper = tf.Variable(1.0, name="temper")

    @property
    def parameters(self):
        return [self.q, self.k]

    def __call__(self, x):
        logits = tf.matmul(x @ self.q, x @ self.k, transpose_b=True) * self.temper
        return tf.nn.softmax(logits) @ x


def build():
    return {"attention": Attention(), "x": tf.random.stateless_normal([4, 3], [3, 0])}


def step(state):
    attention = state["attention"]
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(attention(state["x"]) - 1.0))
    return tape.gradient(loss, attention.parameters), attention.parameters


# ---- answers ----
TITLE = "A parameter that is missing from the class's own list of parameters"
KIND = "none"
MODE = "eager"
MISSING = ["temper"]
EXPECT = {"q": "ok", "k": "ok"}
CAUSE = "temper takes part, is trainable, and is never handed to gradient."
CAUSE_LINE = 'self.temper = tf.Variable(1.0, name="temper")'
CAUSE_LINES = [
    'self.temper = tf.Variable(1.0, name="temper")',
    "return [self.q, self.k]",
    "return tape.gradient(loss, attention.parameters), attention.parameters",
]
CAUSE_OP = "not_handed_over"
REASONS = ["not_handed_over"]
FIX = [("return [self.q, self.k]", "return [self.q, self.k, self.temper]")]
