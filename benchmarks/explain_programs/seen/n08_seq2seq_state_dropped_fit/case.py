import keras
import tensorflow as tf


class Translator(keras.Model):
    """Teacher forcing: the decoder reads the true previous token."""

    def __init__(self):
        super().__init__()
        self.src = keras.layers.Embedding(12, 5, name="src")
        self.tgt = keras.layers.Embedding(12, 5, name="tgt")
        self.encoder = keras.layers.GRU(6, return_state=True, name="encoder")
        self.decoder = keras.layers.GRU(6, return_sequences=True, name="decoder")
        self.words = keras.layers.Dense(12, name="words")

    def call(self, data):
        source, target = data
        _, memory = self.encoder(self.src(source))
        shifted = tf.pad(target[:, :-1], [[0, 0], [1, 0]])
        hidden = self.decoder(self.tgt(shifted))
        return self.words(hidden)


def build():
    keras.utils.set_random_seed(8)
    model = Translator()
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    )
    source = tf.constant([[1, 4, 2, 7], [3, 3, 5, 1]])
    target = tf.constant([[2, 6, 1], [9, 8, 1]])
    return {"model": model, "x": (source, target), "y": target}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=2, verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Encoder-decoder with teacher forcing; the encoder's state is not given to the decoder"
KIND = "none"
MODE = "fit"
EXPECT = {"src": "none", "encoder": "none", "tgt": "ok", "decoder": "ok", "words": "ok"}
CAUSE = "memory is computed and never used: the decoder starts from zeros."
CAUSE_LINE = "hidden = self.decoder(self.tgt(shifted))"
CAUSE_LINES = [
    "hidden = self.decoder(self.tgt(shifted))",
    "_, memory = self.encoder(self.src(source))",
    "shifted = tf.pad(target[:, :-1], [[0, 0], [1, 0]])",
]
CAUSE_OP = "unused"
REASONS = ["thrown_away"]
FIX = [("self.decoder(self.tgt(shifted))", "self.decoder(self.tgt(shifted), initial_state=memory)")]
