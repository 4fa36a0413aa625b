import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(207)
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, activation="relu", name="hid"),
                              keras.layers.Dense(1, activation="relu", name="positive")])
    rng = np.random.default_rng(207)
    x = tf.constant(rng.uniform(0, 4, (20, 5)), tf.float32)
    y = tf.constant(rng.uniform(0, 1, (20, 1)), tf.float32)
    opt = keras.optimizers.SGD(0.2)

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
TITLE = "The non-negative output dies after a step that was too large"
SOURCE = "https://mull-overthing.com/why-does-sigmoid-kill-the-gradient"
KIND = "zero"
MODE = "function"
STEPS = 12
EXPECT_FIRST = {"hid": "ok", "positive": "ok"}
EXPECT = {"hid": "zero", "positive": "zero"}
CAUSE = "After a huge update all pre-activations of the output ReLU are negative; it outputs 0 and passes no gradient."
CAUSE_LINE = 'keras.layers.Dense(1, activation="relu", name="positive")'
CAUSE_OP = "Relu"
FIX = [('keras.layers.Dense(1, activation="relu", name="positive")', 'keras.layers.Dense(1, activation="softplus", name="positive")'), ("SGD(0.2)", "SGD(0.001)")]
