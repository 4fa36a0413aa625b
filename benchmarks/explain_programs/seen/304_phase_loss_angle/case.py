import numpy as np
import tensorflow as tf
import keras


def build():
    keras.utils.set_random_seed(304)
    net = keras.Sequential([keras.Input((16,)), keras.layers.Dense(16, activation="relu", name="enc"),
                            keras.layers.Dense(16, use_bias=False, name="dec")])
    t = np.linspace(0, 1, 16, endpoint=False)
    x = np.stack([np.sin(2 * np.pi * f * t) for f in (1, 2, 3, 0)]).astype("float32")   # last: silence
    x = tf.constant(x)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            y = net(x)
            spec = tf.signal.rfft(y)
            ref = tf.signal.rfft(x)
            mag = tf.reduce_mean(tf.abs(tf.abs(spec) - tf.abs(ref)))
            pha = tf.reduce_mean(tf.square(tf.math.angle(spec)))
            loss = tf.reduce_mean(tf.square(y - x)) + 0.1 * pha
        return tape.gradient(loss, net.trainable_variables), mag

    return {"net": net, "train_step": train_step}


def step(state):
    grads, _ = state["train_step"]()
    return grads, state["net"].trainable_variables


# ---- answers ----
TITLE = "Phase term of a spectral loss on a silent clip"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/50854"
KIND = "nan"
MODE = "function"
EXPECT = {"enc": "nan", "dec": "nan"}
CAUSE = "The angle of 0+0i has no derivative: 0/0 in its gradient."
CAUSE_LINE = "pha = tf.reduce_mean(tf.square(tf.math.angle(spec)))"
CAUSE_OP = "Angle"
FIX = [("tf.math.angle(spec)", "tf.math.angle(spec + tf.complex(1e-3, 0.0))")]
