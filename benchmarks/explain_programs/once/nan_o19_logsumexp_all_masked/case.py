import keras
import tensorflow as tf


def logsumexp(x):
    top = tf.reduce_max(x, axis=-1, keepdims=True)
    return top[..., 0] + tf.math.log(tf.reduce_sum(tf.exp(x - top), axis=-1))


def build():
    keras.utils.set_random_seed(219)
    score = keras.layers.Dense(3, name="score")
    score.build((None, 4))
    allowed = tf.constant([[True, True, False], [False, False, False]])
    x = tf.random.normal([2, 4], seed=3)

    @tf.function
    def train_step(x, allowed):
        with tf.GradientTape() as tape:
            s = score(x) + tf.where(allowed, 0.0, float("-inf"))
            z = logsumexp(s)
            loss = tf.reduce_sum(tf.where(tf.reduce_any(allowed, -1), z, 0.0))
        return tape.gradient(loss, score.trainable_variables)

    return {"score": score, "train_step": train_step, "x": x, "allowed": allowed}


def step(state):
    return state["train_step"](state["x"], state["allowed"]), state["score"].trainable_variables


# ---- answers ----
TITLE = "log-sum-exp by hand over a row in which nothing is allowed"
KIND = "nan"
MODE = "function"
EXPECT = {"score": "nan"}
CAUSE = "The row's maximum is -Inf, and -Inf - -Inf is NaN."
CAUSE_LINE = "return top[..., 0] + tf.math.log(tf.reduce_sum(tf.exp(x - top), axis=-1))"
CAUSE_OP = "Sub"
REASONS = ["infinity_minus_infinity"]
FIX = [('float("-inf"))', "-1e9)")]
