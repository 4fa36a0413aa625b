import keras
import numpy as np
import tensorflow as tf


class Seq2Seq(keras.Model):
    def __init__(self, vocab_in, vocab_out, units):
        super().__init__()
        self.src_emb = keras.layers.Embedding(vocab_in, units, name="src_emb")
        self.src_lstm = keras.layers.LSTM(units, return_state=True, name="src_lstm")
        self.tgt_emb = keras.layers.Embedding(vocab_out, units, name="tgt_emb")
        self.tgt_lstm = keras.layers.LSTM(units, return_sequences=True, name="tgt_lstm")
        self.word = keras.layers.Dense(vocab_out, name="word")

    def call(self, inputs):
        src, tgt = inputs
        _, h, c = self.src_lstm(self.src_emb(src))
        thought = [h, c]
        y = self.tgt_lstm(self.tgt_emb(tgt))
        return self.word(y)


def build():
    keras.utils.set_random_seed(130)
    model = Seq2Seq(20, 25, 10)
    model.compile(optimizer=keras.optimizers.Adam(1e-3),
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    rng = np.random.default_rng(130)
    src, tgt = rng.integers(1, 20, (16, 6)), rng.integers(1, 25, (16, 8))
    return {"model": model, "x": (src, tgt[:, :-1]), "y": tgt[:, 1:]}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Encoder-decoder: the decoder is started without the encoder's state"
SOURCE = "https://github.com/abman23/seq2seq-sc/issues/3"
KIND = "none"
MODE = "fit"
EXPECT = {"src_emb": "none", "src_lstm": "none", "tgt_emb": "ok", "tgt_lstm": "ok", "word": "ok"}
EXPECT_LOG = "Gradients do not exist for variables"
CAUSE = "initial_state is not passed, so the encoder's output is thrown away."
CAUSE_LINE = "y = self.tgt_lstm(self.tgt_emb(tgt))"
CAUSE_OP = "unused"
FIX = [("y = self.tgt_lstm(self.tgt_emb(tgt))", "y = self.tgt_lstm(self.tgt_emb(tgt), initial_state=thought)")]
