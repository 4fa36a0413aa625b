import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(107)
    backbone = keras.Sequential([keras.Input((10,)), keras.layers.Dense(8, activation="tanh", name="b0"),
                                 keras.layers.Dense(8, activation="tanh", name="b1")])
    head = keras.Sequential([keras.Input((8,)), keras.layers.Dense(2, name="h0")])
    rng = np.random.default_rng(7)
    return {"backbone": backbone, "head": head, "opt": keras.optimizers.SGD(0.05),
            "x": tf.constant(rng.normal(size=(16, 10)), tf.float32), "y": tf.constant(rng.integers(0, 2, 16))}


def step(state):
    backbone, head = state["backbone"], state["head"]
    variables = backbone.trainable_variables + head.trainable_variables
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        for v in head.trainable_variables:
            tape.watch(v.value)
        logits = head(backbone(state["x"], training=True))
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(state["y"], logits))
    grads = tape.gradient(loss, variables)
    live = [(g, v) for g, v in zip(grads, variables) if g is not None]
    state["opt"].apply([g for g, _ in live], [v for _, v in live])
    return grads, variables


# ---- answers ----
TITLE = "Tape with watch_accessed_variables=False watches the head only"
SOURCE = "https://www.tensorflow.org/guide/autodiff#controlling_what_the_tape_watches"
KIND = "none"
MODE = "eager"
EXPECT = {"b0": "none", "b1": "none", "h0": "ok"}
CAUSE = "The tape is told not to watch variables by itself and the backbone's are never watched."
CAUSE_LINE = "with tf.GradientTape(watch_accessed_variables=False) as tape:"
CAUSE_OP = "tape"
FIX = [("tf.GradientTape(watch_accessed_variables=False)", "tf.GradientTape()")]
