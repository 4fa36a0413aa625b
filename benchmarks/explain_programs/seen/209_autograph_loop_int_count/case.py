import numpy as np
import tensorflow as tf


def build():
    step_len = tf.Variable(0.7, name="step_len")
    gain = tf.Variable(1.2, name="gain")
    goals = tf.constant(np.random.default_rng(209).uniform(3, 9, 6), tf.float32)

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = 0.0
            for g in goals:
                whole = tf.cast(g * step_len, tf.int32)
                loss += tf.square(gain * tf.cast(whole, tf.float32) - g)
            loss = loss / 6.0
        grads = tape.gradient(loss, [step_len, gain])
        return grads

    return {"vars": [step_len, gain], "train_step": train_step}


def step(state):
    return state["train_step"](), state["vars"]


# ---- answers ----
TITLE = "Whole strides counted inside an AutoGraph loop"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/21985"
KIND = "zero"
MODE = "function"
EXPECT = {"step_len": "zero", "gain": "ok"}
CAUSE = "The cast to int32 inside the loop cuts the gradient; a loop gives 0 where straight code gives None."
CAUSE_LINE = "whole = tf.cast(g * step_len, tf.int32)"
CAUSE_OP = "Cast"
FIX = [("whole = tf.cast(g * step_len, tf.int32)", "whole = g * step_len")]
