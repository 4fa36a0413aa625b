import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(115)
    head = keras.layers.Dense(3, activation="relu", name="alpha", bias_initializer=keras.initializers.Constant([1.0, 0.5, -9.0]))
    head.build((None, 2))
    x = tf.constant([[0.2, 0.1], [0.3, -0.4]])
    shares = tf.constant([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3]])
    return {"head": head, "x": x, "shares": shares}


def dirichlet_nll(alpha, shares):
    normaliser = tf.math.lgamma(tf.reduce_sum(alpha, -1)) - tf.reduce_sum(tf.math.lgamma(alpha), -1)
    return -tf.reduce_mean(normaliser + tf.reduce_sum((alpha - 1.0) * tf.math.log(shares), -1))


def step(state):
    head = state["head"]
    with tf.GradientTape() as tape:
        alpha = head(state["x"])
        loss = dirichlet_nll(alpha, state["shares"]) + 0.01 * tf.reduce_sum(tf.square(tf.math.digamma(alpha + 0.0)))
    return tape.gradient(loss, head.trainable_variables), head.trainable_variables


# ---- answers ----
TITLE = "Dirichlet likelihood with a ReLU for the concentration"
KIND = "nan"
MODE = "eager"
EXPECT = {"alpha": "nan"}
CAUSE = "A concentration of exactly 0: lgamma(0) is Inf and digamma(0) is not finite."
CAUSE_LINE = "normaliser = tf.math.lgamma(tf.reduce_sum(alpha, -1)) - tf.reduce_sum(tf.math.lgamma(alpha), -1)"
CAUSE_OP = "Lgamma"
REASONS = ["pole"]
FIX = [('activation="relu", name="alpha"', 'activation="softplus", name="alpha"')]
