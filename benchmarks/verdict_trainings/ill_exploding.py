"""Trainings that blow up from the start or soon after."""

import keras
import numpy as np
import tensorflow as tf

from verdict_trainings.data import digits, images, series, table, text
from verdict_trainings.healthy_generative import adversarial
from verdict_trainings.healthy_sequence import language_model, transformer
from verdict_trainings.registry import ill
from verdict_trainings.training import L, adam, fit, mlp, normal, sgd

BLOWN = ("exploding", "inf", "nan")
DERAILED = ("exploding", "inf", "nan", "zero", "vanishing", "spiking", "oscillating")
"""What may come of a learning rate far too high: it bounces, blows up, or throws every ReLU off."""


@ill(*DERAILED)
def sgd_rate_too_high_mlp(log):
    fit(log, mlp(64, 64, 64), *digits(), optimizer=sgd(10.0))


@ill(*BLOWN)
def sgd_rate_too_high_regression(log):
    fit(log, mlp(64, 64, outputs=1, inputs=8), *table(), loss="mse", optimizer=sgd(1.0, 0.9))


@ill(*DERAILED)
def adam_rate_too_high_cnn(log):
    layers = [L.Conv2D(16, 3, padding="same", activation="relu") for _ in range(4)]
    model = keras.Sequential([keras.Input((8, 8, 1)), *layers, L.Flatten(), L.Dense(10)])
    fit(log, model, *images(), optimizer=adam(1.0), steps=300)


@ill(*DERAILED)
def adam_rate_too_high_gru(log):
    x, y, size = text()
    fit(log, language_model(lambda n: L.GRU(n, return_sequences=True), size), x, y, optimizer=adam(3.0), steps=300)


@ill(*DERAILED)
def adam_rate_too_high_transformer(log):
    x, y, size = text()
    fit(log, transformer(size, 24), x, y, optimizer=adam(0.5), batch=16, steps=250)


@ill(*DERAILED)
def rmsprop_rate_too_high(log):
    fit(log, mlp(64, 64), *digits(), optimizer=keras.optimizers.RMSprop(1.0))


@ill(*DERAILED)
def lion_rate_too_high(log):
    fit(log, mlp(64, 64, 64), *digits(), optimizer=keras.optimizers.Lion(0.3))


@ill(*BLOWN)
def unscaled_inputs_regression(log):
    x, y = table()
    fit(log, mlp(32, outputs=1, inputs=8), x * 1000, y, loss="mse", optimizer=sgd(0.01))


@ill(*BLOWN)
def unscaled_targets(log):
    x, y = table()
    fit(log, mlp(32, 32, outputs=1, inputs=8), x, y * 1e6, loss="mse", optimizer=sgd(0.01))


@ill(*BLOWN)
def relu_rnn_long(log):
    x, y = series()
    long = np.tile(x, (1, 4, 1))
    cell = L.SimpleRNN(32, activation="relu", recurrent_initializer=normal(0.5))
    model = keras.Sequential([keras.Input((128, 1)), cell, L.Dense(1)])
    fit(log, model, long, y, loss="mse", optimizer=sgd(0.01), steps=200)


@ill(*BLOWN)
def linear_rnn_grows(log):
    x, y = series()
    cell = L.SimpleRNN(16, activation="linear", recurrent_initializer=keras.initializers.Identity(1.6))
    model = keras.Sequential([keras.Input((32, 1)), cell, L.Dense(1)])
    fit(log, model, x, y, loss="mse", optimizer=adam(1e-3), steps=300)


@ill(*BLOWN)
def relu_lstm_long(log):
    x, y = series()
    long = np.tile(x, (1, 3, 1)) * 4
    cell = L.LSTM(24, activation="relu", recurrent_initializer=normal(0.6))
    model = keras.Sequential([keras.Input((96, 1)), cell, L.Dense(1)])
    fit(log, model, long, y, loss="mse", optimizer=sgd(0.05), steps=200)


@ill(*BLOWN)
def deep_relu_big_init(log):
    fit(log, mlp(*[64] * 10, init=normal(0.8)), *digits(), optimizer=sgd(0.01), steps=300)


@ill(*BLOWN)
def residual_without_norm(log):
    x = inputs = keras.Input((64,))
    for _ in range(24):
        x = L.Add()([x, L.Dense(64, kernel_initializer=normal(0.35), activation="relu")(x)])
    fit(log, keras.Model(inputs, L.Dense(10)(x)), *digits(), optimizer=sgd(0.01), steps=300)


@ill(*DERAILED)
def deep_cnn_without_norm_high_rate(log):
    layers = [L.Conv2D(16, 3, padding="same", activation="relu", kernel_initializer="he_normal") for _ in range(10)]
    model = keras.Sequential([keras.Input((8, 8, 1)), *layers, L.Flatten(), L.Dense(10)])
    fit(log, model, *images(), optimizer=sgd(1.0, 0.9), steps=200)


@ill(*BLOWN)
def loss_with_the_wrong_sign(log):
    def loss(target, output):
        return -tf.square(target - output)

    fit(log, mlp(32, 32, outputs=1, inputs=8), *table(), loss=loss, optimizer=sgd(0.05))


@ill(*BLOWN)
def critic_without_penalty(log):
    def critic_loss(critic, real, fake):
        return tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real))

    adversarial(
        log, critic_loss, lambda critic, fake: -tf.reduce_mean(critic(fake)), steps=500, critic_steps=2, rate=2e-2
    )


@ill(*BLOWN)
def polynomial_features(log):
    x, y = table()
    powers = np.concatenate([x**k for k in range(1, 8)], 1)
    fit(log, mlp(outputs=1, inputs=56), powers, y, loss="mse", optimizer=sgd(0.01))


@ill(*BLOWN)
def cubic_loss(log):
    def loss(target, output):
        return tf.abs(target - output) ** 3

    x, y = table()
    fit(log, mlp(32, 32, outputs=1, inputs=8), x, 5 * y, loss=loss, optimizer=sgd(0.05))


@ill(*DERAILED)
def bouncing_full_batch(log):
    """Full-batch descent well beyond the edge of stability of a bounded loss."""
    x, y = table()
    model = mlp(32, activation="tanh", outputs=1, inputs=8)
    fit(log, model, x[:256], y[:256], batch=256, loss="mse", optimizer=sgd(2.0), steps=300)
