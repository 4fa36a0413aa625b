import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(32)
    policy = keras.layers.Dense(2, name="policy")
    value = keras.layers.Dense(1, name="value")
    policy.build((None, 3))
    value.build((None, 2))
    return {"policy": policy, "value": value, "obs": tf.random.normal([4, 3], seed=33)}


def act(state, obs):
    logits = state["policy"](obs)
    return keras.ops.convert_to_numpy(keras.ops.softmax(logits))


def step(state):
    variables = state["policy"].trainable_variables + state["value"].trainable_variables
    with tf.GradientTape() as tape:
        probabilities = act(state, state["obs"])
        critic = state["value"](probabilities)
        loss = tf.reduce_mean(tf.square(critic - 1.0))
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "keras.ops.convert_to_numpy in the middle of a step"
KIND = "none"
MODE = "eager"
EXPECT = {"policy": "none", "value": "ok"}
CAUSE = "convert_to_numpy makes a constant of the policy's output."
CAUSE_LINE = "return keras.ops.convert_to_numpy(keras.ops.softmax(logits))"
CAUSE_OP = "numpy"
REASONS = ["numpy"]
FIX = [("keras.ops.convert_to_numpy(keras.ops.softmax(logits))", "keras.ops.softmax(logits)")]
