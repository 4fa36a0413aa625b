import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(39)
    conv = keras.layers.Conv2D(2, 3, name="conv", bias_initializer=keras.initializers.Constant(30.0))
    head = keras.layers.Dense(1, name="head")
    conv.build((None, 6, 6, 1))
    head.build((None, 2))
    variables = conv.trainable_variables + head.trainable_variables

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            h = conv(x)
            h = tf.quantization.fake_quant_with_min_max_args(h, -6.0, 6.0)
            loss = tf.reduce_mean(tf.square(head(tf.reduce_mean(h, [1, 2])) - 1.0))
        return tape.gradient(loss, variables)

    return {"variables": variables, "train_step": train_step, "x": tf.random.normal([2, 6, 6, 1], seed=40)}


def step(state):
    return state["train_step"](state["x"]), state["variables"]


# ---- answers ----
TITLE = "Quantisation-aware training with activations beyond the range"
KIND = "zero"
MODE = "function"
EXPECT = {"conv": "zero", "head": "ok"}
CAUSE = "Every activation is about 30, the range ends at 6: the derivative of fake_quant is 0 there."
CAUSE_LINE = "h = tf.quantization.fake_quant_with_min_max_args(h, -6.0, 6.0)"
CAUSE_OP = "FakeQuantWithMinMaxArgs"
REASONS = ["clipped"]
FIX = [("-6.0, 6.0", "-60.0, 60.0")]
