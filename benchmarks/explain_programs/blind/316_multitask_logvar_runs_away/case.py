import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(316)
    net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu", name="base"),
                            keras.layers.Dense(1, name="mean")])
    log_var = tf.Variable([-60.0], name="log_var")
    rng = np.random.default_rng(316)
    x = tf.constant(rng.normal(size=(30, 4)), tf.float32)
    y = tf.constant(rng.normal(size=(30, 1)), tf.float32)
    opt = keras.optimizers.SGD(0.05)
    variables = net.trainable_variables + [log_var]

    def gaussian_nll(y, mu, lv):
        precision = tf.exp(-lv)
        return tf.reduce_mean(0.5 * precision * tf.square(y - mu) + 0.5 * lv)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = gaussian_nll(y, net(x, training=True), log_var)
        grads = tape.gradient(loss, variables)
        for g, v in zip(grads, variables):
            v.assign_sub(0.05 * g)
        return grads

    return {"variables": variables, "train_step": train_step}


def step(state):
    return state["train_step"](), state["variables"]


# ---- answers ----
TITLE = "Homoscedastic uncertainty: log variance of -60 makes the weights explode"
SOURCE = "https://github.com/yaringal/multi-task-learning-example/issues/14"
KIND = "nan"
MODE = "function"
STEPS = 6
EXPECT_FIRST = {"base": "ok", "mean": "ok", "log_var": "ok"}
EXPECT = {"base": "nan", "mean": "nan", "log_var": "nan"}
CAUSE = "exp(-log_var) = exp(60) multiplies the gradient by 1e26; after one update the weights and the squared error overflow."
CAUSE_LINE = "precision = tf.exp(-lv)"
CAUSE_OP = "Exp"
FIX = [("log_var = tf.Variable([-60.0], name", "log_var = tf.Variable([0.0], name")]
