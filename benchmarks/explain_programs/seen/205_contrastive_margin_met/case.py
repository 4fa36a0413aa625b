import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(205)
    tower = keras.Sequential([keras.Input((6,)), keras.layers.Dense(12, activation="relu", name="t1"),
                              keras.layers.Dense(4, use_bias=False, name="t2")])
    rng = np.random.default_rng(205)
    left = rng.normal(size=(10, 6)).astype("float32") * 20
    right = rng.normal(size=(10, 6)).astype("float32") * 20
    return {"tower": tower, "left": left, "right": right, "opt": keras.optimizers.Adam(1e-3)}


def mined_negatives(ea, eb, margin=1.0):
    d = tf.sqrt(tf.reduce_sum(tf.square(ea - eb), -1) + 1e-9)
    return tf.reduce_mean(tf.square(tf.maximum(margin - d, 0.0)))


def step(state):
    tower = state["tower"]
    with tf.GradientTape() as tape:
        loss = mined_negatives(tower(state["left"]), tower(state["right"]))
    grads = tape.gradient(loss, tower.trainable_variables)
    state["opt"].apply(grads, tower.trainable_variables)
    return grads, tower.trainable_variables


# ---- answers ----
TITLE = "Contrastive loss on unscaled features: every pair is beyond the margin"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/46956"
KIND = "zero"
MODE = "eager"
EXPECT = {"t1": "zero", "t2": "zero"}
CAUSE = "margin - d is negative for all pairs, the hinge maximum(..., 0) is flat."
CAUSE_LINE = "return tf.reduce_mean(tf.square(tf.maximum(margin - d, 0.0)))"
CAUSE_OP = "Maximum"
FIX = [("def mined_negatives(ea, eb, margin=1.0):", "def mined_negatives(ea, eb, margin=100.0):")]
