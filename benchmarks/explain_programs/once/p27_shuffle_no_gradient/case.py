import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(27)
    critic = keras.layers.Dense(1, name="critic")
    maker = keras.layers.Dense(3, name="maker")
    maker.build((None, 2))
    critic.build((None, 6))
    return {"critic": critic, "maker": maker, "x": tf.random.normal([5, 2], seed=28)}


def marginal(z):
    return tf.random.shuffle(z)


def step(state):
    variables = state["maker"].trainable_variables + state["critic"].trainable_variables
    with tf.GradientTape() as tape:
        z = state["maker"](state["x"])
        joint = state["critic"](tf.concat([z, z], 1))
        product = state["critic"](tf.concat([z, marginal(z)], 1))
        loss = tf.reduce_mean(product) - tf.reduce_mean(joint)
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "Mutual information estimate with tf.random.shuffle"
KIND = "error"
MODE = "eager"
EXPECT = {}
EXPECT_ERROR = "gradient registry has no entry for: RandomShuffle"
CAUSE = "RandomShuffle has no registered gradient."
CAUSE_LINE = "return tf.random.shuffle(z)"
CAUSE_OP = "RandomShuffle"
REASONS = ["no_gradient_registered"]
FIX = [("tf.random.shuffle(z)", "tf.gather(z, tf.random.shuffle(tf.range(tf.shape(z)[0])))")]
