import os
import sys

import keras
import tensorflow as tf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from similarity import cosine


def build():
    keras.utils.set_random_seed(120)
    tower = keras.layers.Dense(4, activation="relu", name="tower")
    tower.build((None, 3))
    a = tf.constant([[1.0, 2.0, 0.5], [0.0, 0.0, 0.0]])
    b = tf.constant([[0.5, 1.0, 1.0], [1.0, 0.0, 2.0]])
    return {"tower": tower, "a": a, "b": b}


def step(state):
    tower = state["tower"]
    with tf.GradientTape() as tape:
        loss = 1.0 - tf.reduce_mean(cosine(tower(state["a"]), tower(state["b"])))
    return tape.gradient(loss, tower.trainable_variables), tower.trainable_variables


# ---- answers ----
TITLE = "Cosine similarity in a helper module; one item has no features"
KIND = "nan"
MODE = "eager"
EXPECT = {"tower": "nan"}
CAUSE = "The zero vector has norm 0, and 0 / 0 is NaN."
CAUSE_FILE = "similarity.py"
CAUSE_LINE = "return dot / (norm_a * norm_b)"
CAUSE_OP = "RealDiv"
REASONS = ["division_by_zero"]
FIX_FILE = "similarity.py"
FIX = [("tf.reduce_sum(tf.square(x), axis=-1))", "tf.reduce_sum(tf.square(x), axis=-1) + 1e-6)")]
