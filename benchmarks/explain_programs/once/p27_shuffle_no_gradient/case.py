import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(27)
    critic = keras.layers.Dense(1, name="critic")
    maker = keras.layers.Dense(3, name="maker")
    maker.build((None, 2))
    critic.build((None, 6))
    return {"critic": critic, "maker": maker, "x": tf.random.normal([5, 2], seed=28)}


def painted(z):
    return tf.image.adjust_hue(z[:, None, None], 0.1)[:, 0, 0]


def step(state):
    variables = state["maker"].trainable_variables + state["critic"].trainable_variables
    with tf.GradientTape() as tape:
        z = state["maker"](state["x"])
        joint = state["critic"](tf.concat([z, z], 1))
        product = state["critic"](tf.concat([z, painted(z)], 1))
        loss = tf.reduce_mean(tf.square(product)) - tf.reduce_mean(joint)
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "A colour conversion inside the loss"
KIND = "error"
MODE = "eager"
EXPECT = {}
EXPECT_ERROR = "gradient registry has no entry for: AdjustHue"
CAUSE = "AdjustHue has no registered gradient."
CAUSE_LINE = "return tf.image.adjust_hue(z[:, None, None], 0.1)[:, 0, 0]"
CAUSE_OP = "AdjustHue"
REASONS = ["no_gradient_registered"]
FIX = [("tf.image.adjust_hue(z[:, None, None], 0.1)[:, 0, 0]", "tf.sigmoid(z)")]
