"""Convolutional networks that train well."""

import keras

from verdict_trainings.data import images
from verdict_trainings.registry import healthy
from verdict_trainings.training import L, adam, fit, sgd


@healthy()
def cnn_adam(log):
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            L.Conv2D(16, 3, activation="relu"),
            L.Conv2D(32, 3, activation="relu"),
            L.GlobalAveragePooling2D(),
            L.Dense(10),
        ]
    )
    fit(log, model, *images(), optimizer=adam(3e-3), steps=500)


@healthy()
def cnn_bias_before_batchnorm(log):
    blocks = []
    for filters in (16, 16, 32):
        blocks += [L.Conv2D(filters, 3, padding="same"), L.BatchNormalization(), L.ReLU()]
    model = keras.Sequential([keras.Input((8, 8, 1)), *blocks, L.Flatten(), L.Dense(10)])
    fit(log, model, *images(), optimizer=sgd(0.05, 0.9), steps=500)


def _resnet(blocks, gamma="ones", width=16):
    x = inputs = keras.Input((8, 8, 1))
    x = L.ReLU()(L.BatchNormalization()(L.Conv2D(width, 3, padding="same", use_bias=False)(x)))
    for _ in range(blocks):
        y = L.ReLU()(L.BatchNormalization()(L.Conv2D(width, 3, padding="same")(x)))
        y = L.BatchNormalization(gamma_initializer=gamma)(L.Conv2D(width, 3, padding="same")(y))
        x = L.ReLU()(L.Add()([x, y]))
    return keras.Model(inputs, L.Dense(10)(L.GlobalAveragePooling2D()(x)))


@healthy()
def resnet_adam(log):
    fit(log, _resnet(4), *images(), steps=400)


@healthy()
def resnet_zero_gamma_cosine(log):
    rate = keras.optimizers.schedules.CosineDecay(0.1, 400)
    fit(log, _resnet(4, gamma="zeros"), *images(), optimizer=sgd(rate, 0.9), steps=400)


@healthy()
def resnet_deep(log):
    fit(log, _resnet(9, width=8), *images(), optimizer=adam(2e-3), steps=300)


@healthy()
def cnn_separable(log):
    layers = [L.SeparableConv2D(f, 3, padding="same", activation="relu") for f in (16, 32, 32)]
    model = keras.Sequential([keras.Input((8, 8, 1)), *layers, L.GlobalMaxPooling2D(), L.Dense(10)])
    fit(log, model, *images(), optimizer=adam(5e-3), steps=500)


@healthy()
def cnn_groupnorm_lion(log):
    blocks = []
    for filters in (16, 32):
        blocks += [L.Conv2D(filters, 3, padding="same"), L.GroupNormalization(4), L.Activation("silu")]
    model = keras.Sequential([keras.Input((8, 8, 1)), *blocks, L.Flatten(), L.Dense(10)])
    fit(log, model, *images(), optimizer=keras.optimizers.Lion(3e-4), steps=400)


@healthy()
def convolutional_autoencoder(log):
    x, _ = images()
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            L.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
            L.Conv2D(8, 3, strides=2, padding="same", activation="relu"),
            L.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu"),
            L.Conv2DTranspose(1, 3, strides=2, padding="same"),
        ]
    )
    fit(log, model, x, x, loss="mse", optimizer=adam(3e-3), steps=500)
