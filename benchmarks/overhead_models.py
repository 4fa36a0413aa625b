"""The models that `overhead.py` trains: each gives a model, its inputs, its targets and a loss."""

import keras
import numpy as np


def transformer():
    """12 blocks of width 192: 5.6 M parameters in 149 variables."""
    tokens = keras.Input((64,), dtype="int32")
    x = keras.layers.Embedding(1000, 192)(tokens)
    for _ in range(12):
        y = keras.layers.LayerNormalization()(x)
        x = x + keras.layers.MultiHeadAttention(4, 48)(y, y)
        y = keras.layers.LayerNormalization()(x)
        x = x + keras.layers.Dense(192)(keras.layers.Dense(768, activation="gelu")(y))
    model = keras.Model(tokens, keras.layers.Dense(1000)(x))
    data = np.random.default_rng(0).integers(0, 1000, (8, 64))
    return model, data, data, keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def resnet():
    model = keras.applications.ResNet50(weights=None, input_shape=(64, 64, 3), classes=10)
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(8, 64, 64, 3)).astype("float32"), generator.integers(0, 10, 8)
    return model, x, y, keras.losses.SparseCategoricalCrossentropy()


def gru():
    """A few milliseconds a step on two cores."""
    tokens = keras.Input((16,), dtype="int32")
    x = keras.layers.GRU(64, return_sequences=True)(keras.layers.Embedding(100, 32)(tokens))
    model = keras.Model(tokens, keras.layers.Dense(100)(keras.layers.GRU(64)(x)))
    generator = np.random.default_rng(0)
    data, y = generator.integers(0, 100, (16, 16)), generator.integers(0, 100, 16)
    return model, data, y, keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def embedding():
    """200,000 x 64 in the table, 8,192 sparse rows a step."""
    tokens = keras.Input((128,), dtype="int32")
    x = keras.layers.GlobalAveragePooling1D()(keras.layers.Embedding(200_000, 64)(tokens))
    model = keras.Model(tokens, keras.layers.Dense(1)(keras.layers.Dense(64, activation="relu")(x)))
    generator = np.random.default_rng(0)
    data = generator.integers(0, 200_000, (64, 128))
    return model, data, generator.normal(size=(64, 1)).astype("float32"), keras.losses.MeanSquaredError()


MODELS = {"transformer": transformer, "resnet": resnet, "gru": gru, "embedding": embedding}
