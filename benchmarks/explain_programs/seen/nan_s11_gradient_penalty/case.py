import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(111)
    critic = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="relu", name="c1"),
                               keras.layers.Dense(1, name="c2")])
    x = tf.concat([tf.random.normal([3, 3], seed=1), tf.zeros([1, 3])], 0)  # at 0 all four units are off
    return {"critic": critic, "x": x}


def penalty(critic, x):
    with tf.GradientTape() as inner:
        inner.watch(x)
        score = critic(x)
    slope = inner.gradient(score, x)
    length = tf.sqrt(tf.reduce_sum(tf.square(slope), axis=1))
    return tf.reduce_mean(tf.square(length - 1.0)), tf.reduce_mean(score)


def step(state):
    critic = state["critic"]
    with tf.GradientTape() as tape:
        gp, score = penalty(critic, state["x"])
        loss = score + 10.0 * gp
    return tape.gradient(loss, critic.trainable_variables), critic.trainable_variables


# ---- answers ----
TITLE = "WGAN-GP: the slope of a dead input is the zero vector"
KIND = "nan"
MODE = "eager"
EXPECT = {"c1": "nan", "c1/bias": "ok", "c2": "nan", "c2/bias": "ok"}
CAUSE = "At x = 0 every unit is off, so the slope is 0 and the derivative of its length, sqrt(0), is infinite."
CAUSE_LINE = "length = tf.sqrt(tf.reduce_sum(tf.square(slope), axis=1))"
CAUSE_OP = "Sqrt"
REASONS = ["derivative_of_sqrt_at_zero"]
FIX = [("tf.square(slope), axis=1))", "tf.square(slope), axis=1) + 1e-12)")]
