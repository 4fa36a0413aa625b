import keras
import tensorflow as tf

SCALE = 2.0**15


def build():
    keras.utils.set_random_seed(112)
    layer = keras.layers.Dense(2, dtype="float16", name="half")
    layer.build((None, 3))
    x = tf.constant([[3.0, 1.0, 2.0], [2.0, 4.0, 1.0]], tf.float16)
    return {"layer": layer, "x": x}


def step(state):
    layer = state["layer"]
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(layer(state["x"]) - 5.0))
        scaled = loss * tf.constant(SCALE, tf.float16)
    grads = tape.gradient(scaled, layer.trainable_variables)
    return [g / tf.cast(SCALE, g.dtype) for g in grads], layer.trainable_variables


# ---- answers ----
TITLE = "A fixed loss scale that is too large for float16"
KIND = "inf"
MODE = "eager"
EXPECT = {"half": "inf"}
CAUSE = "The scaled gradient exceeds 65504, the largest float16."
CAUSE_LINE = "scaled = loss * tf.constant(SCALE, tf.float16)"
CAUSE_OP = "Mul"
REASONS = ["loss_scale_overflow"]
FIX = [("SCALE = 2.0**15", "SCALE = 2.0**6")]
