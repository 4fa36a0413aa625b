import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(211)
    field = keras.layers.Dense(2, use_bias=False, name="field")
    field.build((None, 3))
    x = tf.constant([[0.0, 0.0, 0.0], [1.0, 0.5, -0.5], [0.2, 0.1, 0.9]])
    heading = tf.constant([0.3, 0.0, -0.5])

    @tf.function
    def train_step(x, heading):
        with tf.GradientTape() as tape:
            vector = field(x)
            angle = tf.math.atan2(vector[:, 1], vector[:, 0])
            loss = tf.reduce_mean(1.0 - tf.cos(angle - heading))
        return tape.gradient(loss, field.trainable_variables)

    return {"field": field, "train_step": train_step, "x": x, "heading": heading}


def step(state):
    return state["train_step"](state["x"], state["heading"]), state["field"].trainable_variables


# ---- answers ----
TITLE = "Angle of a vector that is zero"
KIND = "nan"
MODE = "function"
EXPECT = {"field": "nan"}
CAUSE = "The derivative of atan2 at the origin is 0 / 0."
CAUSE_LINE = "angle = tf.math.atan2(vector[:, 1], vector[:, 0])"
CAUSE_OP = "Atan2"
REASONS = ["derivative_of_atan2_at_zero"]
FIX = [("tf.math.atan2(vector[:, 1], vector[:, 0])", "tf.math.atan2(vector[:, 1], vector[:, 0] + 1e-3)")]
