"""Recurrent and attention networks that train well, on text and on series."""

import keras

from verdict_trainings.data import images, series, text, words
from verdict_trainings.registry import healthy
from verdict_trainings.training import L, adam, fit, sgd

BINARY = keras.losses.BinaryCrossentropy(from_logits=True)


def language_model(cell, size, width=32, embed=16):
    return keras.Sequential([keras.Input((None,)), L.Embedding(size, embed), cell(width), L.Dense(size)])


@healthy()
def gru_text_clipped(log):
    x, y, size = text()
    model = language_model(lambda n: L.GRU(n, return_sequences=True), size)
    fit(log, model, x, y, optimizer=adam(3e-3, global_clipnorm=1.0), steps=500)


@healthy()
def lstm_text(log):
    x, y, size = text()
    fit(log, language_model(lambda n: L.LSTM(n, return_sequences=True), size), x, y, optimizer=adam(3e-3), steps=500)


@healthy()
def lstm_text_tight_clip(log):
    x, y, size = text()
    model = language_model(lambda n: L.LSTM(n, return_sequences=True), size)
    fit(log, model, x, y, optimizer=adam(3e-3, global_clipnorm=0.1), steps=500)


@healthy()
def bidirectional_words(log):
    x, y, size = words()
    model = keras.Sequential([keras.Input((None,)), L.Embedding(size, 16), L.Bidirectional(L.LSTM(16)), L.Dense(1)])
    fit(log, model, x, y[:, None], loss=BINARY, steps=400)


@healthy()
def embedding_bag_rare_words(log):
    x, y, size = words()
    model = keras.Sequential([keras.Input((None,)), L.Embedding(size, 16), L.GlobalAveragePooling1D(), L.Dense(1)])
    fit(log, model, x, y[:, None], loss=BINARY, optimizer=adam(1e-2), batch=8, steps=600)


@healthy()
def gru_series(log):
    x, y = series()
    model = keras.Sequential([keras.Input((32, 1)), L.GRU(24), L.Dense(1)])
    fit(log, model, x, y, loss="mse", optimizer=adam(5e-3), steps=500)


@healthy()
def simple_rnn_series(log):
    x, y = series(16)
    model = keras.Sequential([keras.Input((16, 1)), L.SimpleRNN(24), L.Dense(1)])
    fit(log, model, x, y, loss="mse", optimizer=adam(2e-3), steps=500)


@healthy()
def stacked_lstm_series_rmsprop(log):
    x, y = series()
    model = keras.Sequential([keras.Input((32, 1)), L.LSTM(16, return_sequences=True), L.LSTM(16), L.Dense(1)])
    fit(log, model, x, y, loss="mse", optimizer=keras.optimizers.RMSprop(3e-3), steps=400)


@healthy()
def gru_digits_rows_sgd(log):
    x, y = images()
    model = keras.Sequential([keras.Input((8, 8)), L.GRU(32), L.Dense(10)])
    fit(log, model, x[..., 0], y, optimizer=sgd(0.2, 0.9, global_clipnorm=1.0), steps=500)


@healthy()
def causal_convolution_series(log):
    x, y = series()
    layers = [L.Conv1D(16, 2, dilation_rate=2**k, padding="causal", activation="relu") for k in range(4)]
    model = keras.Sequential([keras.Input((32, 1)), *layers, L.Lambda(lambda t: t[:, -1]), L.Dense(1)])
    fit(log, model, x, y, loss="mse", optimizer=adam(3e-3), steps=500)


def _block(x, width, heads=2, *, pre, causal):
    def attend(t):
        return L.MultiHeadAttention(heads, width // heads)(t, t, use_causal_mask=causal)

    def feed(t):
        return L.Dense(width)(L.Dense(2 * width, "gelu")(t))

    if pre:
        x = L.Add()([x, attend(L.LayerNormalization()(x))])
        return L.Add()([x, feed(L.LayerNormalization()(x))])
    x = L.LayerNormalization()(L.Add()([x, attend(x)]))
    return L.LayerNormalization()(L.Add()([x, feed(x)]))


class Positions(L.Layer):
    def build(self, shape):
        self.table = self.add_weight(shape=shape[1:], initializer="random_normal", name="table")

    def call(self, x):
        return x + self.table


def transformer(size, length, width=32, blocks=2, *, pre=True):
    inputs = keras.Input((length,))
    x = Positions()(L.Embedding(size, width)(inputs))
    for _ in range(blocks):
        x = _block(x, width, pre=pre, causal=True)
    return keras.Model(inputs, L.Dense(size)(L.LayerNormalization()(x) if pre else x))


@healthy()
def transformer_text_warmup(log):
    x, y, size = text()
    rate = keras.optimizers.schedules.CosineDecay(0.0, 350, warmup_target=3e-3, warmup_steps=50)
    model = transformer(size, 24)
    fit(log, model, x, y, optimizer=keras.optimizers.AdamW(rate, global_clipnorm=1.0), batch=16, steps=400)


@healthy()
def transformer_text_four_blocks(log):
    x, y, size = text()
    fit(log, transformer(size, 24, blocks=4), x, y, optimizer=adam(1e-3), batch=8, steps=300)


@healthy()
def transformer_text_post_norm(log):
    x, y, size = text()
    rate = keras.optimizers.schedules.CosineDecay(0.0, 300, warmup_target=1e-3, warmup_steps=100)
    fit(log, transformer(size, 24, pre=False), x, y, optimizer=adam(rate), batch=16, steps=400)


@healthy()
def attention_over_digit_rows(log):
    x, y = images()
    inputs = keras.Input((8, 8))
    hidden = Positions()(L.Dense(32)(inputs))
    hidden = L.GlobalAveragePooling1D()(_block(hidden, 32, pre=True, causal=False))
    fit(log, keras.Model(inputs, L.Dense(10)(hidden)), x[..., 0], y, steps=400)


@healthy()
def tied_embeddings(log):
    x, y, size = text()

    class Tied(keras.Model):
        def __init__(self):
            super().__init__()
            self.embed = L.Embedding(size, 32)
            self.gru = L.GRU(32, return_sequences=True)

        def call(self, ids):
            return keras.ops.matmul(self.gru(self.embed(ids)), keras.ops.transpose(self.embed.embeddings))

    fit(log, Tied(), x, y, optimizer=adam(5e-3), steps=400)
