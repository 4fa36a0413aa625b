import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(308)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(8, activation="leaky_relu", name="area"),
                              keras.layers.Dense(1, name="rent")])
    rng = np.random.default_rng(38)
    x = np.stack([rng.uniform(20, 150, 64), rng.integers(1, 6, 64)], 1).astype("float32")
    y = (x[:, :1] * 11 + 80).astype("float32")
    x, y = tf.constant(x), tf.constant(y)
    opt = keras.optimizers.SGD(learning_rate=0.01, momentum=0.9)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply(grads, model.trainable_variables)
        return grads

    return {"model": model, "train_step": train_step}


def step(state):
    return state["train_step"](), state["model"].trainable_variables


# ---- answers ----
TITLE = "Rent regression on unscaled features blows up after a few steps"
SOURCE = "https://stackoverflow.com/questions/37232782/nan-loss-when-training-regression-network"
KIND = "nan"
MODE = "function"
STEPS = 30
EXPECT_FIRST = {"area": "ok", "rent": "ok"}
EXPECT = {"area": "nan", "rent": "nan"}
CAUSE = "The learning rate is far too large for unscaled inputs: weights and loss grow at every step until they overflow."
CAUSE_LINE = "opt = keras.optimizers.SGD(learning_rate=0.01, momentum=0.9)"
CAUSE_OP = "growth"
FIX = [("learning_rate=0.01, momentum=0.9", "learning_rate=1e-6")]
