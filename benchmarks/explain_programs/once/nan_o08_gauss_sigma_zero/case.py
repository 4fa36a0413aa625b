import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(208)
    body = keras.Sequential([keras.Input((2,)), keras.layers.Dense(4, activation="tanh", name="body")])
    mu = keras.layers.Dense(1, name="mu")
    sigma = keras.layers.Dense(1, activation="relu", name="sigma", kernel_initializer=keras.initializers.Constant(-0.5))
    mu.build((None, 4))
    sigma.build((None, 4))
    variables = body.trainable_variables + mu.trainable_variables + sigma.trainable_variables
    x = tf.constant([[1.0, 2.0], [0.3, -0.2], [-2.0, 0.1]])
    y = tf.constant([[0.5], [0.1], [-1.0]])

    @tf.function(jit_compile=True)
    def train_step():
        with tf.GradientTape() as tape:
            h = body(x)
            s = sigma(h)
            z = (y - mu(h)) / s
            loss = tf.reduce_mean(0.5 * z * z + tf.math.log(s))
        return tape.gradient(loss, variables)

    return {"variables": variables, "train_step": train_step}


def step(state):
    return state["train_step"](), state["variables"]


# ---- answers ----
TITLE = "Gaussian likelihood with a ReLU for the standard deviation, compiled by XLA"
KIND = "nan"
MODE = "function"
EXPECT = {"body": "nan", "mu": "nan", "sigma": "ok"}
CAUSE = "The ReLU gives a deviation of exactly 0; the error is divided by it."
CAUSE_LINE = "z = (y - mu(h)) / s"
CAUSE_OP = "RealDiv"
REASONS = ["division_by_zero"]
FIX = [('activation="relu", name="sigma"', 'activation="softplus", name="sigma"')]
