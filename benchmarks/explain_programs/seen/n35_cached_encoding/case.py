import keras
import tensorflow as tf


class Captioner:
    def __init__(self):
        self.encoder = keras.layers.Dense(4, activation="tanh", name="encoder")
        self.decoder = keras.layers.Dense(2, name="decoder")
        self.encoder.build((None, 3))
        self.decoder.build((None, 4))
        self.memory = None

    def __call__(self, image):
        if self.memory is None:
            self.memory = self.encoder(image)
        return self.decoder(self.memory)

    @property
    def variables(self):
        return self.encoder.trainable_variables + self.decoder.trainable_variables


def build():
    keras.utils.set_random_seed(35)
    return {"model": Captioner(), "image": tf.random.normal([2, 3], seed=36)}


def step(state):
    model = state["model"]
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(state["image"]) - 1.0))
    return tape.gradient(loss, model.variables), model.variables


# ---- answers ----
TITLE = "The encoding of the first step is kept on an attribute and used again"
KIND = "none"
MODE = "eager"
STEPS = 2
EXPECT_FIRST = {"encoder": "ok", "decoder": "ok"}
EXPECT = {"encoder": "none", "decoder": "ok"}
CAUSE = "self.memory was computed under the tape of the first step."
CAUSE_LINE = "self.memory = self.encoder(image)"
CAUSE_OP = "outside_tape"
REASONS = ["other_tape", "outside_tape", "python_state"]
FIX = [("        if self.memory is None:\n", "        if True:\n")]
