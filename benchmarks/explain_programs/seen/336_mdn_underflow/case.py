import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(336)
    net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(12, activation="tanh", name="m1"),
                            keras.layers.Dense(9, name="m2")])
    rng = np.random.default_rng(336)
    x = rng.uniform(-1, 1, (30, 1)).astype("float32")
    y = np.sin(3 * x) + 0.05 * rng.normal(size=x.shape).astype("float32")
    y[17] = 40.0                                  # outlier
    x, y = tf.constant(x), tf.constant(y.astype("float32"))

    def density(y, mu, sigma):
        z = (y - mu) / sigma
        return tf.exp(-0.5 * tf.square(z)) / (sigma * 2.5066283)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            pi, mu, raw = tf.split(net(x, training=True), 3, axis=1)
            mix = tf.nn.softmax(pi) * density(y, mu, tf.nn.softplus(raw) + 0.1)
            loss = -tf.reduce_mean(tf.math.log(tf.reduce_sum(mix, axis=1)))
        return tape.gradient(loss, net.trainable_variables)

    return {"net": net, "train_step": train_step}


def step(state):
    return state["train_step"](), state["net"].trainable_variables


# ---- answers ----
TITLE = "Mixture density network: the density of an outlier underflows to 0"
SOURCE = "https://github.com/emited/VariationalRecurrentNeuralNetwork/issues/2"
KIND = "nan"
MODE = "function"
EXPECT = {"m1": "nan", "m2": "nan"}
CAUSE = "exp(-800) is 0 in float32, so the logarithm of the mixture is log(0) and its gradient Inf * 0 = NaN."
CAUSE_LINE = "loss = -tf.reduce_mean(tf.math.log(tf.reduce_sum(mix, axis=1)))"
CAUSE_OP = "Log"
FIX = [("tf.math.log(tf.reduce_sum(mix, axis=1))", "tf.math.log(tf.reduce_sum(mix, axis=1) + 1e-9)")]
