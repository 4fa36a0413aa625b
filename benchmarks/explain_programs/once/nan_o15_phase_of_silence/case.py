import keras
import tensorflow as tf


def build():
    keras.utils.set_random_seed(215)
    synth = keras.layers.Dense(64, use_bias=False, name="synth")
    synth.build((None, 4))
    control = tf.constant([[0.5, -0.2, 0.1, 0.9], [0.0, 0.0, 0.0, 0.0]])
    wanted = tf.random.normal([2, 33], seed=3)

    @tf.function
    def train_step(control, wanted):
        with tf.GradientTape() as tape:
            spectrum = tf.signal.rfft(synth(control))
            phase = tf.math.angle(spectrum)
            loss = tf.reduce_mean(tf.square(phase - wanted))
        return tape.gradient(loss, synth.trainable_variables)

    return {"synth": synth, "train_step": train_step, "control": control, "wanted": wanted}


def step(state):
    return state["train_step"](state["control"], state["wanted"]), state["synth"].trainable_variables


# ---- answers ----
TITLE = "Phase of a silent signal"
KIND = "nan"
MODE = "function"
EXPECT = {"synth": "nan"}
CAUSE = "The angle of the complex number 0 has no derivative: 1 / 0."
CAUSE_LINE = "phase = tf.math.angle(spectrum)"
CAUSE_OP = "Angle"
REASONS = ["derivative_of_angle_at_zero", "derivative_not_finite"]
FIX = [("[0.0, 0.0, 0.0, 0.0]]", "[0.1, 0.0, 0.3, 0.0]]")]
