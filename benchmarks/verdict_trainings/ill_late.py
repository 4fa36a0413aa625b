"""Trainings that go well at first: late divergence, one bad batch."""

import keras
import numpy as np
import tensorflow as tf

from verdict_trainings.data import digits, images, series, table, text
from verdict_trainings.healthy_sequence import language_model, transformer
from verdict_trainings.ill_exploding import BLOWN, DERAILED
from verdict_trainings.registry import ill
from verdict_trainings.training import L, adam, batches, fit, mlp, sgd

SPIKE = ("spiking", "exploding")


def spoiled(x, y, at, *, batch=32, steps=400, image=lambda t: t, label=lambda t: t):
    """The batches of (x, y), those of the steps `at` spoiled."""
    bad = tf.constant(sorted(at), tf.int64)

    def spoil(index, pair):
        hit = tf.reduce_any(index == bad)
        return (
            tf.cond(hit, lambda: image(pair[0]), lambda: pair[0]),
            tf.cond(hit, lambda: label(pair[1]), lambda: pair[1]),
        )

    return batches(x, y, batch, steps).enumerate().map(spoil)


@ill(*SPIKE, onset=200)
def one_bad_batch_mlp(log):
    data = spoiled(*digits(), {200}, image=lambda t: t * 300)
    fit(log, mlp(64, 64), None, None, data=data, optimizer=sgd(1e-2, global_clipnorm=1.0))


@ill(*SPIKE, onset=250)
def one_bad_batch_regression(log):
    data = spoiled(*table(), {250}, label=lambda t: t * 1000)
    fit(log, mlp(64, outputs=1, inputs=8), None, None, loss="mse", data=data)


@ill(*SPIKE, onset=150)
def one_bad_batch_gru(log):
    data = spoiled(*series(), {150}, steps=300, label=lambda t: t + 100)
    model = keras.Sequential([keras.Input((32, 1)), L.GRU(16), L.Dense(1)])
    fit(log, model, None, None, loss="mse", data=data, optimizer=adam(3e-3))


@ill(*SPIKE, onset=180)
def one_unscaled_batch_cnn(log):
    model = keras.Sequential(
        [keras.Input((8, 8, 1)), L.Conv2D(16, 3, activation="relu"), L.Conv2D(16, 3, activation="relu"), L.Flatten()]
    )
    model.add(L.Dense(10))
    fit(log, model, None, None, data=spoiled(*images(), {180}, steps=350, image=lambda t: t * 255))


@ill(*SPIKE, onset=120)
def three_bad_batches_autoencoder(log):
    x, _ = digits()
    data = spoiled(x, x, {120, 210, 330}, label=lambda t: t * 100)
    fit(log, mlp(32, outputs=64), None, None, loss="mse", data=data)


@ill(*SPIKE, onset=200)
def one_mislabelled_outlier(log):
    def outlier(t):
        return tf.concat([t[:1] + 500, t[1:]], 0)

    fit(log, mlp(64, outputs=1, inputs=8), None, None, loss="mse", data=spoiled(*table(), {200}, label=outlier))


@ill(*DERAILED, onset=250)
def rate_jumps_mlp(log):
    rate = keras.optimizers.schedules.PiecewiseConstantDecay([250], [0.05, 20.0])
    fit(log, mlp(64, 64), *digits(), optimizer=sgd(rate, 0.9))


@ill(*DERAILED, onset=150)
def rate_jumps_gru(log):
    x, y, size = text()
    rate = keras.optimizers.schedules.PiecewiseConstantDecay([150], [3e-3, 3.0])
    fit(log, language_model(lambda n: L.GRU(n, return_sequences=True), size), x, y, optimizer=adam(rate), steps=300)


@ill(*DERAILED, onset=150)
def rate_jumps_transformer(log):
    x, y, size = text()
    rate = keras.optimizers.schedules.PiecewiseConstantDecay([150], [1e-3, 1.0])
    fit(log, transformer(size, 24), x, y, optimizer=adam(rate), batch=16, steps=300)


@ill(*BLOWN, onset=150)
def rate_grows_until_it_breaks(log):
    class Growing(keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            return 1e-3 * 1.03 ** keras.ops.cast(step, "float32")

        def get_config(self):
            return {}

    fit(log, mlp(64, outputs=1, inputs=8), *table(), loss="mse", optimizer=sgd(Growing()), steps=450)


@ill(*BLOWN, onset=100)
def bootstrapping_without_target(log):
    """Value learning whose aim follows its own guess and grows with it."""
    x, y = table()
    model, optimizer = mlp(32, outputs=1, inputs=8), sgd(0.05)
    variables = model.trainable_variables
    generator = np.random.default_rng(0)
    with log.writer() as writer:
        for step in range(500):
            at = generator.integers(0, len(x), 32)
            factor = 0.5 if step < 100 else 1.5
            aim = y[at] + factor * model(x[at] + 0.1).numpy()
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(x[at]) - aim) ** 2)
            gradients = tape.gradient(loss, variables)
            writer.record(gradients, variables, step=step, loss=loss)
            optimizer.apply(gradients, variables)


@ill(*BLOWN, onset=200)
def data_drifts_away(log):
    x, y = table()
    scale = np.concatenate([np.ones(200), 1.06 ** np.arange(250)]).astype("float32")
    data = batches(x, y, 32, 450).enumerate().map(lambda i, p: (p[0], p[1] * tf.gather(scale, i)))
    fit(log, mlp(64, outputs=1, inputs=8), None, None, loss="mse", data=data)
