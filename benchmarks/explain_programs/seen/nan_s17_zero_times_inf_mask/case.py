import keras
import tensorflow as tf

BLOCK = float("-inf")


def build():
    keras.utils.set_random_seed(117)
    query = keras.layers.Dense(4, name="query")
    key = keras.layers.Dense(4, name="key")
    query.build((None, 3, 4))
    key.build((None, 3, 4))
    x = tf.random.normal([2, 3, 4], seed=6)
    keep = tf.constant([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    return {"query": query, "key": key, "x": x, "keep": keep}


def attention(state):
    q, k = state["query"](state["x"]), state["key"](state["x"])
    logits = tf.matmul(q, k, transpose_b=True)
    logits += ((1.0 - state["keep"]) * BLOCK)[:, None, :]
    return tf.matmul(tf.nn.softmax(logits), state["x"])


def step(state):
    variables = state["query"].trainable_variables + state["key"].trainable_variables
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(attention(state)))
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "Attention mask made by multiplying with -inf"
KIND = "nan"
MODE = "eager"
EXPECT = {"query": "nan", "key": "nan"}
CAUSE = "(1 - keep) * -inf is 0 * -inf = NaN wherever nothing is masked."
CAUSE_LINE = "logits += ((1.0 - state[\"keep\"]) * BLOCK)[:, None, :]"
CAUSE_OP = "Mul"
REASONS = ["zero_times_infinity"]
FIX = [('BLOCK = float("-inf")', "BLOCK = -1e9"), ("name=\"key\")", "name=\"key\", use_bias=False)")]
