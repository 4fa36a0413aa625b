import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(21)
    gate = keras.layers.Dense(3, activation="sigmoid", name="gate", bias_initializer=keras.initializers.Constant(200.0))
    out = keras.layers.Dense(1, name="out")
    gate.build((None, 4))
    out.build((None, 3))
    return {"gate": gate, "out": out, "x": tf.random.normal([6, 4], seed=22)}


def step(state):
    variables = state["gate"].trainable_variables + state["out"].trainable_variables
    with tf.GradientTape() as tape:
        opened = state["gate"](state["x"])
        loss = tf.reduce_mean(tf.square(state["out"](opened) - 1.0))
    return tape.gradient(loss, variables), variables


# ---- answers ----
TITLE = "A gate whose bias holds its sigmoid at exactly 1"
KIND = "zero"
MODE = "eager"
EXPECT = {"gate": "zero", "out": "ok"}
CAUSE = "sigmoid(200) is exactly 1 in float32."
CAUSE_LINE = 'gate = keras.layers.Dense(3, activation="sigmoid", name="gate"'
CAUSE_OP = "Sigmoid"
REASONS = ["saturated_activation"]
FIX = [("Constant(200.0)", "Constant(1.0)")]
