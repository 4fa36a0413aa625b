"""Trainings with layers that are dead: exactly zero gradients."""

import keras
import tensorflow as tf

from verdict_trainings.data import digits, images, table
from verdict_trainings.registry import ill
from verdict_trainings.training import L, adam, fit, mlp, sgd

DEAD = ("zero", "vanishing")


def constant(value):
    return keras.initializers.Constant(value)


@ill(*DEAD)
def relu_dead_by_bias(log):
    model = keras.Sequential(
        [keras.Input((64,)), L.Dense(64, "relu"), L.Dense(32, "relu", bias_initializer=constant(-50.0)), L.Dense(10)]
    )
    fit(log, model, *digits(), steps=200)


@ill(*DEAD)
def zero_initialised_twice(log):
    model = keras.Sequential(
        [
            keras.Input((64,)),
            L.Dense(32, "relu"),
            L.Dense(32, "relu", kernel_initializer="zeros"),
            L.Dense(10, kernel_initializer="zeros"),
        ]
    )
    fit(log, model, *digits(), steps=200)


@ill(*DEAD)
def relu_output_for_negative_targets(log):
    x, y = table()
    model = keras.Sequential(
        [keras.Input((8,)), L.Dense(32, "relu"), L.Dense(1, "relu", bias_initializer=constant(-20.0))]
    )
    fit(log, model, x, y - 3, loss="mse", steps=200)


@ill(*DEAD, "exploding", "spiking", onset=150)
def relu_dies_after_a_rate_jump(log):
    rate = keras.optimizers.schedules.PiecewiseConstantDecay([150, 153], [1e-2, 500.0, 1e-2])
    fit(log, mlp(64, 64, outputs=1, inputs=8), *table(), loss="mae", optimizer=sgd(rate), steps=350)


@ill(*DEAD)
def float16_underflows(log):
    x, y = digits()
    model = keras.Sequential([keras.Input((64,), dtype="float16"), L.Dense(32, "relu", dtype="float16")])
    model.add(L.Dense(10, dtype="float16"))

    def loss(target, output):
        return 1e-6 * keras.losses.sparse_categorical_crossentropy(target, output, from_logits=True)

    fit(log, model, x.astype("float16"), y, loss=loss, optimizer=sgd(0.1), steps=150)


@ill(*DEAD)
def multiplied_by_zero(log):
    inputs = keras.Input((64,))
    side = L.Dense(32, "relu")(inputs)
    main = L.Dense(32, "relu")(inputs)
    hidden = L.Lambda(lambda p: p[0] + 0.0 * p[1])([main, side])
    fit(log, keras.Model(inputs, L.Dense(10)(hidden)), *digits(), steps=200)


@ill(*DEAD)
def clipped_activation(log):
    x, y = images()
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            L.Conv2D(16, 3),
            L.Lambda(lambda t: tf.clip_by_value(t * 1000 + 5000, 0.0, 1.0)),
            L.Flatten(),
            L.Dense(10),
        ]
    )
    fit(log, model, x, y, steps=200)


@ill(*DEAD, onset=100)
def branch_gated_off_later(log):
    inputs = keras.Input((64,))
    gate = tf.Variable(1.0, trainable=False)
    side = L.Dense(32, "relu", name="side")(inputs)
    hidden = L.Lambda(lambda p: p[0] + gate * p[1])([L.Dense(32, "relu")(inputs), side])
    off = keras.callbacks.LambdaCallback(
        on_train_batch_begin=lambda batch, logs: gate.assign(0.0) if batch == 100 else None
    )
    fit(log, keras.Model(inputs, L.Dense(10)(hidden)), *digits(), callbacks=[off], optimizer=adam(), steps=250)
