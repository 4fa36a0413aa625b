import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(202)
    net = keras.Sequential([keras.Input((2,)), keras.layers.Dense(
        1, activation="sigmoid", name="prob", kernel_initializer=keras.initializers.Constant(10.0))])
    x = tf.constant([[1.0, 1.0], [0.1, -0.1]])
    y = tf.constant([[1.0], [0.0]])

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            p = net(x)
            positive = y * tf.math.log(p)
            negative = (1.0 - y) * tf.math.log(1.0 - p)
            loss = -tf.reduce_mean(positive + negative)
        return tape.gradient(loss, net.trainable_variables)

    return {"net": net, "train_step": train_step, "x": x, "y": y}


def step(state):
    return state["train_step"](state["x"], state["y"]), state["net"].trainable_variables


# ---- answers ----
TITLE = "Binary cross-entropy by hand: a saturated sigmoid is exactly 1"
KIND = "nan"
MODE = "function"
EXPECT = {"prob": "nan"}
CAUSE = "sigmoid(20) rounds to 1 in float32, and log(1 - 1) is -Inf, times 0 it is NaN."
CAUSE_LINE = "negative = (1.0 - y) * tf.math.log(1.0 - p)"
CAUSE_OP = "Log"
REASONS = ["log_of_zero", "derivative_of_log_at_zero"]
FIX = [("tf.math.log(1.0 - p)", "tf.math.log(1.0 - p + 1e-7)")]
