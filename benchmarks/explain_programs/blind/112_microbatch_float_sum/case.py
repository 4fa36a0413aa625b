import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(112)
    model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(12, activation="relu", name="fc1"),
                              keras.layers.Dense(3, name="fc2")])
    rng = np.random.default_rng(12)
    return {"model": model, "x": rng.normal(size=(32, 10)).astype("float32"), "y": rng.integers(0, 3, 32),
            "loss": keras.losses.SparseCategoricalCrossentropy(from_logits=True)}


def step(state, micro=8):
    model = state["model"]
    weights = model.trainable_weights
    with tf.GradientTape() as tape:
        total, parts = 0.0, []
        for i in range(0, 32, micro):
            logits = model(state["x"][i:i + micro], training=True)
            value = state["loss"](state["y"][i:i + micro], logits)
            parts.append(float(value))
        total = tf.add_n([tf.convert_to_tensor(p) for p in parts]) / len(parts)
    return tape.gradient(total, weights), weights


# ---- answers ----
TITLE = "Micro-batches: the losses are collected as Python floats"
SOURCE = "https://discuss.tensorflow.org/t/where-does-the-tape-break-after-all/20305"
KIND = "none"
MODE = "eager"
EXPECT = {"fc1": "none", "fc2": "none"}
CAUSE = "float(value) turns each loss into a Python number; the sum is a constant for the tape."
CAUSE_LINE = "parts.append(float(value))"
CAUSE_OP = "numpy"
FIX = [("parts.append(float(value))", "parts.append(value)")]
