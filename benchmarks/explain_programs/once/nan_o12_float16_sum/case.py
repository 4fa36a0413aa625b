import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(212)
    layer = keras.layers.Dense(32, activation="relu", name="half", dtype="float16",
                               kernel_initializer=keras.initializers.Constant(0.5))
    layer.build((None, 16))
    x = tf.cast(tf.fill([8, 16], 12.0), tf.float16)

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            energy = tf.reduce_sum(tf.square(layer(x)))
            loss = 1.0 - energy / (energy + 1.0)
        return tape.gradient(loss, layer.trainable_variables)

    return {"layer": layer, "train_step": train_step, "x": x}


def step(state):
    return state["train_step"](state["x"]), state["layer"].trainable_variables


# ---- answers ----
TITLE = "A sum of squares in float16"
KIND = "nan"
MODE = "function"
EXPECT = {"half": "nan"}
CAUSE = "256 squares of 96 add up to more than 65504, the largest float16."
CAUSE_LINE = "energy = tf.reduce_sum(tf.square(layer(x)))"
CAUSE_OP = "Sum"
REASONS = ["overflow"]
FIX = [("tf.square(layer(x))", "tf.square(layer(x) / 96.0)")]
