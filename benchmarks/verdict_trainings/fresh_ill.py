"""Ill trainings of the fresh half: written after the rules were tuned, scored when they were frozen."""

import keras
import numpy as np
import tensorflow as tf

from verdict_trainings.data import digits, images, series, table, text
from verdict_trainings.healthy_sequence import language_model, transformer
from verdict_trainings.ill_dead import DEAD, constant
from verdict_trainings.ill_exploding import BLOWN, DERAILED
from verdict_trainings.ill_late import SPIKE, spoiled
from verdict_trainings.ill_nonfinite import NOT_FINITE
from verdict_trainings.registry import ill
from verdict_trainings.training import CROSSENTROPY, L, adam, fit, mlp, normal, sgd


@ill("vanishing")
def deep_sigmoid_cnn(log):
    layers = [L.Conv2D(16, 3, padding="same", activation="sigmoid") for _ in range(9)]
    model = keras.Sequential([keras.Input((8, 8, 1)), *layers, L.Flatten(), L.Dense(10)])
    fit(log, model, *images(), optimizer=sgd(0.05, 0.9), steps=250)


@ill("vanishing")
def deep_tanh_tiny_init_regression(log):
    model = mlp(*[48] * 9, activation="tanh", init=normal(0.04), outputs=1, inputs=8)
    fit(log, model, *table(), loss="mse", optimizer=sgd(0.05), steps=300)


@ill("vanishing", "zero")
def simple_rnn_forgets_over_fifty_steps(log):
    generator = np.random.default_rng(1)
    y = generator.integers(0, 3, 2000)
    x = np.zeros((2000, 50, 3), "float32")
    x[np.arange(2000), 0, y] = 1
    cell = L.SimpleRNN(12, recurrent_initializer=keras.initializers.Identity(0.6))
    fit(log, keras.Sequential([keras.Input((50, 3)), cell, L.Dense(3)]), x, y, optimizer=sgd(0.05), steps=250)


@ill("vanishing", "zero")
def softmax_at_a_tiny_temperature(log):
    x, y = digits()
    model = keras.Sequential(
        [keras.Input((64,)), L.Dense(32, "relu"), L.Dense(10), L.Lambda(lambda t: 1e5 * t), L.Softmax()]
    )
    fit(log, model, x, keras.utils.to_categorical(y, 10), loss="mse", optimizer=sgd(0.1), steps=250)


@ill(*BLOWN)
def relu_rnn_grows_over_sixty_steps(log):
    x, y = series()
    long = np.tile(x, (1, 2, 1))
    cell = L.SimpleRNN(24, activation="relu", recurrent_initializer=keras.initializers.Identity(1.4))
    model = keras.Sequential([keras.Input((64, 1)), cell, L.Dense(1)])
    fit(log, model, long, y, loss="mse", optimizer=sgd(0.01), steps=200)


@ill(*BLOWN)
def residual_branches_scaled_up(log):
    x = inputs = keras.Input((64,))
    for _ in range(16):
        x = L.Lambda(lambda p: p[0] + 3.0 * p[1])([x, L.Dense(64, "relu")(x)])
    fit(log, keras.Model(inputs, L.Dense(10)(x)), *digits(), optimizer=sgd(0.01), steps=200)


@ill(*BLOWN)
def features_of_unequal_scale(log):
    x, y = table()
    fit(log, mlp(outputs=1, inputs=8), x * np.float32([1, 10, 100, 1e3, 1, 1, 1, 1]), y, loss="mse", optimizer=sgd(0.1))


@ill(*BLOWN)
def kl_of_the_wrong_sign(log):
    x, _ = digits()

    class Sample(L.Layer):
        def call(self, parts):
            mean, log_variance = parts
            self.add_loss(-tf.reduce_mean(tf.square(mean) + tf.exp(log_variance) - 1.0 - log_variance))
            return mean + tf.exp(0.5 * log_variance) * tf.random.normal(tf.shape(mean))

    inputs = keras.Input((64,))
    hidden = L.Dense(48, "relu")(inputs)
    code = Sample()((L.Dense(4)(hidden), L.Dense(4)(hidden)))
    fit(log, keras.Model(inputs, L.Dense(64, "sigmoid")(code)), x, x, loss="mse", optimizer=adam(1e-2), steps=300)


@ill(*DERAILED)
def adam_rate_too_high_lstm(log):
    x, y, size = text()
    model = language_model(lambda n: L.LSTM(n, return_sequences=True), size)
    fit(log, model, x, y, optimizer=adam(2.0), steps=250)


@ill(*DERAILED)
def sgd_rate_too_high_cnn(log):
    layers = [L.Conv2D(16, 3, padding="same", activation="relu") for _ in range(3)]
    model = keras.Sequential([keras.Input((8, 8, 1)), *layers, L.Flatten(), L.Dense(10)])
    fit(log, model, *images(), optimizer=sgd(20.0), steps=250)


@ill(*DERAILED)
def momentum_too_high_regression(log):
    fit(log, mlp(32, outputs=1, inputs=8), *table(), loss="mse", optimizer=sgd(0.5, 0.99), steps=300)


@ill(*DEAD)
def convolution_dead_by_bias(log):
    layers = [L.Conv2D(16, 3, activation="relu"), L.Conv2D(16, 3, activation="relu", bias_initializer=constant(-100.0))]
    model = keras.Sequential([keras.Input((8, 8, 1)), *layers, L.Flatten(), L.Dense(10)])
    fit(log, model, *images(), steps=150)


@ill(*DEAD, "exploding", "spiking")
def relu_dies_in_the_first_step(log):
    model = mlp(64, 64, outputs=1, inputs=8)
    fit(log, model, *table(), loss="mae", optimizer=sgd(300.0), steps=200)


@ill(*NOT_FINITE)
def nan_in_one_of_three_targets(log):
    x, y = table()
    several = np.concatenate([y, y**2, y**3], 1)
    several[::50, 2] = np.nan
    fit(log, mlp(32, outputs=3, inputs=8), x, several, loss="mse", steps=150)


@ill(*NOT_FINITE)
def missing_values_in_the_input(log):
    x, y = table()
    x = x.copy()
    x[np.random.default_rng(0).random(x.shape) < 0.002] = np.nan
    fit(log, mlp(32, outputs=1, inputs=8), x, y, loss="mse", steps=150)


@ill(*NOT_FINITE)
def norm_of_a_zero_row(log):
    x, y = digits()

    def unit(t):
        masked = t * tf.cast(tf.reduce_sum(tf.abs(t), 1, keepdims=True) > 12.0, tf.float32)
        return masked / (tf.sqrt(tf.reduce_sum(masked**2, 1, keepdims=True)) + 1e-6)

    model = keras.Sequential([keras.Input((64,)), L.Dense(32, "relu"), L.Lambda(unit), L.Dense(10)])
    fit(log, model, x, y, steps=150)


@ill(*NOT_FINITE)
def crossentropy_by_hand(log):
    x, y = digits()

    def loss(target, output):
        p = tf.nn.softmax(200.0 * output)
        return -tf.reduce_sum(target * tf.math.log(p), -1)

    fit(log, mlp(32), x, keras.utils.to_categorical(y, 10), loss=loss, steps=150)


@ill("none")
def hidden_layer_behind_an_argmax(log):
    inputs = keras.Input((64,))
    code = L.Lambda(lambda t: tf.one_hot(tf.argmax(t, -1), 16))(L.Dense(16)(inputs))
    fit(log, keras.Model(inputs, L.Dense(10)(code)), *digits(), steps=100)


@ill("none")
def encoder_fed_as_numpy(log):
    x, y = digits()
    body, head, optimizer = mlp(32, outputs=32), mlp(outputs=10, inputs=32), adam()
    variables = body.trainable_variables + head.trainable_variables
    with log.writer() as writer:
        for step in range(100):
            at = slice(step * 8, step * 8 + 32)
            with tf.GradientTape() as tape:
                loss = CROSSENTROPY(y[at], head(body(x[at]).numpy()))
            gradients = tape.gradient(loss, variables)
            writer.record(gradients, variables, step=step, loss=loss)
            optimizer.apply(gradients[-2:], variables[-2:])


@ill(*DERAILED, onset=120)
def rate_climbs_transformer(log):
    x, y, size = text()
    rate = keras.optimizers.schedules.PiecewiseConstantDecay([120, 160, 200], [1e-3, 3e-2, 0.3, 1.0])
    fit(log, transformer(size, 24), x, y, optimizer=adam(rate), batch=16, steps=300)


@ill(*DERAILED, onset=200)
def rate_jumps_cnn(log):
    rate = keras.optimizers.schedules.PiecewiseConstantDecay([200], [0.05, 10.0])
    layers = [L.Conv2D(16, 3, activation="relu"), L.Conv2D(16, 3, activation="relu"), L.Flatten(), L.Dense(10)]
    fit(log, keras.Sequential([keras.Input((8, 8, 1)), *layers]), *images(), optimizer=sgd(rate, 0.9), steps=300)


@ill(*SPIKE, onset=160)
def one_bad_batch_lstm(log):
    data = spoiled(*series(), {160}, steps=300, label=lambda t: t * 500)
    model = keras.Sequential([keras.Input((32, 1)), L.LSTM(16), L.Dense(1)])
    fit(log, model, None, None, loss="mse", data=data, optimizer=adam(3e-3))


@ill(*SPIKE, onset=220)
def one_bad_batch_autoencoder(log):
    x, _ = digits()
    data = spoiled(x, x, {220}, label=lambda t: t + 60.0)
    fit(log, mlp(32, outputs=64), None, None, loss="mse", data=data, optimizer=adam(2e-3))


@ill(*SPIKE, onset=180)
def one_unscaled_batch_clipped_cnn(log):
    layers = [L.Conv2D(16, 3, activation="relu"), L.Flatten(), L.Dense(10)]
    model = keras.Sequential([keras.Input((8, 8, 1)), *layers])
    data = spoiled(*images(), {180}, steps=350, image=lambda t: t * 400)
    fit(log, model, None, None, data=data, optimizer=sgd(0.05, 0.9, global_clipnorm=1.0))
