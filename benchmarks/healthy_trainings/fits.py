"""Healthy trainings in `model.fit`."""

import keras
import numpy as np

from healthy_trainings.common import dense, fit, noise, training


@training
def functional_of_fifty_layers(directory):
    inputs = h = keras.Input((8,))
    for _ in range(16):
        wide = keras.layers.Dense(16, activation="gelu")(h)
        h = keras.layers.LayerNormalization()(keras.layers.Add()([h, keras.layers.Dense(8)(wide)]))
    fit(directory, keras.Model(inputs, keras.layers.Dense(1)(h)), noise(32, 8), noise(32, 1))


@training
def convolutions_with_batch_normalisation(directory):
    model = keras.Sequential(
        [
            keras.Input((12, 12, 3)),
            keras.layers.Conv2D(8, 3, use_bias=False),
            keras.layers.BatchNormalization(),
            keras.layers.ReLU(),
            keras.layers.MaxPooling2D(),
            keras.layers.Flatten(),
            keras.layers.Dense(3, activation="softmax"),
        ]
    )
    fit(directory, model, noise(32, 12, 12, 3), np.arange(32) % 3, "sparse_categorical_crossentropy")


@training
def bidirectional_lstm(directory):
    lstm = keras.layers.Bidirectional(keras.layers.LSTM(8))
    model = keras.Sequential([keras.Input((7, 3)), lstm, keras.layers.Dropout(0.2), keras.layers.Dense(1)])
    fit(directory, model, noise(32, 7, 3), noise(32, 1))


@training
def embedding_whose_rows_are_mostly_unseen(directory):
    layers = [keras.layers.Embedding(500, 8), keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1)]
    fit(directory, keras.Sequential([keras.Input((5,), dtype="int32"), *layers]), np.arange(160).reshape(32, 5) % 40,
        noise(32, 1))  # fmt: skip


@training
def attention(directory):
    inputs = keras.Input((6, 8))
    h = keras.layers.MultiHeadAttention(2, 4)(inputs, inputs, use_causal_mask=True)
    h = keras.layers.LayerNormalization()(h + inputs)
    fit(directory, keras.Model(inputs, keras.layers.Dense(1)(h)), noise(32, 6, 8), noise(32, 6, 1))


@training
def mixed_precision(directory):
    model = keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(8, activation="tanh", dtype="mixed_float16"),
            keras.layers.Dense(1, dtype="float32"),
        ]
    )
    fit(directory, model, noise(32, 4), noise(32, 1))


@training
def eager_fit(directory):
    fit(directory, dense(8, 1), noise(32, 4), noise(32, 1), run_eagerly=True)


@training
def compiled_by_xla(directory):
    fit(directory, dense(8, 1), noise(32, 4), noise(32, 1), jit_compile=True)


@training
def relu_units_that_are_off_in_some_batches(directory):
    fit(directory, dense(32, 32, 1, activation="relu"), noise(64, 4), noise(64, 1))


@training
def fine_tuning_with_a_frozen_base(directory):
    base = dense(8, 8)
    base.trainable = False
    fit(directory, keras.Sequential([keras.Input((4,)), base, keras.layers.Dense(1)]), noise(32, 4), noise(32, 1))


@training
def two_outputs(directory):
    inputs = keras.Input((4,))
    h = keras.layers.Dense(8, activation="tanh")(inputs)
    model = keras.Model(inputs, [keras.layers.Dense(1)(h), keras.layers.Dense(3)(h)])
    fit(directory, model, noise(32, 4), [noise(32, 1), noise(32, 3)], ["mse", "mse"])
