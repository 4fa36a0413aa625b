import keras
import numpy as np
import tensorflow as tf


class MiniBert(keras.Model):
    def __init__(self, vocab=50, width=16):
        super().__init__()
        self.tok = keras.layers.Embedding(vocab, width, name="tok")
        self.att = keras.layers.MultiHeadAttention(2, 8, name="att")
        self.norm = keras.layers.LayerNormalization(name="norm")
        self.ffn = keras.layers.Dense(width, activation="gelu", name="ffn")
        self.pooler = keras.layers.Dense(width, activation="tanh", name="pooler")

    def call(self, ids):
        h = self.tok(ids)
        h = self.norm(h + self.att(h, h))
        h = h + self.ffn(h)
        return h, self.pooler(h[:, 0])


class Tagger(keras.Model):
    def __init__(self, labels):
        super().__init__()
        self.bert = MiniBert()
        self.drop = keras.layers.Dropout(0.1)
        self.out = keras.layers.Dense(labels, activation="softmax", name="out")

    def call(self, ids, training=False):
        sequence, pooled = self.bert(ids)
        h = self.drop(sequence, training=training)
        h = tf.reduce_mean(h, axis=1)
        return self.out(h)


def build():
    keras.utils.set_random_seed(105)
    model = Tagger(3)
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy")
    rng = np.random.default_rng(105)
    return {"model": model, "x": rng.integers(0, 50, (16, 7)), "y": rng.integers(0, 3, 16)}


def step(state):
    model = state["model"]

    def fit(callbacks=()):
        return model.fit(state["x"], state["y"], epochs=1, batch_size=state.get("batch", 8), shuffle=False,
                         verbose=0, callbacks=list(callbacks))

    return model, fit


# ---- answers ----
TITLE = "Fine-tuning a BERT-like encoder: gradients do not exist for the pooler"
SOURCE = "https://github.com/tensorflow/tensorflow/issues/37501"
KIND = "none"
MODE = "fit"
EXPECT = {"tok": "ok", "att": "ok", "norm": "ok", "ffn": "ok", "pooler": "none", "out": "ok"}
EXPECT_LOG = "Gradients do not exist for variables"
CAUSE = "The pooled output is computed but the classifier uses the sequence output, so the pooler does not reach the loss."
CAUSE_LINE = "sequence, pooled = self.bert(ids)"
CAUSE_OP = "unused"
FIX = [("h = tf.reduce_mean(h, axis=1)", "h = tf.reduce_mean(h, axis=1) + pooled")]
