import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(101)
    tower = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="tanh", name="tower")])
    left = tf.constant([[0.1, 0.4, -0.2], [1.0, 0.0, 0.5]])
    right = tf.constant([[0.3, -0.4, 0.2], [1.0, 0.0, 0.5]])  # the second pair is the same item twice
    return {"tower": tower, "left": left, "right": right, "same": tf.constant([0.0, 1.0])}


def contrastive(a, b, same):
    distance = tf.norm(a - b, axis=1)
    return tf.reduce_mean(same * distance + (1.0 - same) * tf.maximum(3.0 - distance, 0.0))


def step(state):
    tower = state["tower"]
    with tf.GradientTape() as tape:
        loss = contrastive(tower(state["left"]), tower(state["right"]), state["same"])
    return tape.gradient(loss, tower.trainable_variables), tower.trainable_variables


# ---- answers ----
TITLE = "Siamese loss on a pair of equal items: the norm of the zero vector"
KIND = "nan"
MODE = "eager"
EXPECT = {"tower": "nan"}
CAUSE = "tf.norm is sqrt(sum of squares); for equal items it is sqrt(0), whose derivative is infinite."
CAUSE_LINE = "distance = tf.norm(a - b, axis=1)"
CAUSE_OP = "Sqrt"
REASONS = ["derivative_of_sqrt_at_zero"]
FIX = [("tf.norm(a - b, axis=1)", "tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=1) + 1e-12)")]
