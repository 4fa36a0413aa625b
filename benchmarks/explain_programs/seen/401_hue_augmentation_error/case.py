import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(401)
    gen = keras.Sequential([keras.Input((4,)), keras.layers.Dense(48, activation="sigmoid", name="paint"),
                            keras.layers.Reshape((4, 4, 3))])
    judge = keras.Sequential([keras.Input((4, 4, 3)), keras.layers.Conv2D(4, 3, name="look"),
                              keras.layers.Flatten(), keras.layers.Dense(1, name="score")])
    z = tf.random.stateless_normal([8, 4], [4, 1])
    opt = keras.optimizers.Adam(2e-4)
    variables = gen.trainable_variables

    def augment(img):
        img = tf.image.random_flip_left_right(img)
        img = tf.image.adjust_hue(img, 0.05)
        return img

    @tf.function
    def gen_step():
        with tf.GradientTape() as tape:
            fake = augment(gen(z, training=True))
            loss = tf.reduce_mean(tf.nn.softplus(-judge(fake)))
        grads = tape.gradient(loss, variables)
        opt.apply(grads, variables)
        return grads

    return {"variables": variables, "gen_step": gen_step}


def step(state):
    return state["gen_step"](), state["variables"]


# ---- answers ----
TITLE = "Differentiable augmentation with a hue shift raises LookupError"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/7641"
KIND = "error"
MODE = "function"
EXPECT = {}
EXPECT_ERROR = "AdjustHue"
CAUSE = "The op AdjustHue has no registered gradient."
CAUSE_LINE = "img = tf.image.adjust_hue(img, 0.05)"
CAUSE_OP = "AdjustHue"
FIX = [("img = tf.image.adjust_hue(img, 0.05)", "img = img * 0.95")]
