"""Trainings with NaN, Inf, None, and overflow."""

import keras
import numpy as np
import tensorflow as tf

from verdict_trainings.data import digits, series, table
from verdict_trainings.ill_late import spoiled
from verdict_trainings.registry import ill
from verdict_trainings.training import L, adam, fit, mlp, sgd

NOT_FINITE = ("nan", "inf")


@ill(*NOT_FINITE)
def nan_in_the_labels(log):
    x, y = table()
    y = y.copy()
    y[::97] = np.nan
    fit(log, mlp(32, outputs=1, inputs=8), x, y, loss="mse", steps=150)


@ill(*NOT_FINITE, onset=120)
def nan_in_a_late_batch(log):
    data = spoiled(*table(), {120}, steps=200, image=lambda t: t * np.nan)
    fit(log, mlp(32, outputs=1, inputs=8), None, None, loss="mse", data=data)


@ill(*NOT_FINITE)
def log_of_zero(log):
    x, y = digits()

    def loss(target, output):
        return -tf.math.log(tf.nn.relu(tf.gather(output, tf.cast(target[:, 0], tf.int32), batch_dims=1)))

    fit(log, mlp(32), x, y[:, None], loss=loss, steps=100)


@ill(*NOT_FINITE)
def root_of_zero(log):
    x, _ = digits()

    def loss(target, output):
        return tf.sqrt(tf.reduce_sum(tf.square(target - output) * tf.cast(target > 2.0, tf.float32), 1))

    fit(log, mlp(32, outputs=64), x, x, loss=loss, steps=100)


@ill(*NOT_FINITE, "exploding")
def exponential_output(log):
    x, y = table()
    fit(
        log, mlp(32, outputs=1, inputs=8, activation="exponential"), 4 * x, y, loss="mse", optimizer=sgd(0.1), steps=100
    )


@ill(*NOT_FINITE, "exploding")
def float16_without_scaling_overflows(log):
    x, y = table()
    model = keras.Sequential([keras.Input((8,), dtype="float16"), L.Dense(64, "relu", dtype="float16")])
    model.add(L.Dense(1, dtype="float16"))
    fit(log, model, (x * 50).astype("float16"), (y * 200).astype("float16"), loss="mse", optimizer=sgd(0.1), steps=100)


@ill("overflow", *NOT_FINITE)
def loss_scale_collapses(log):
    """Half of the batches hold an Inf, so that no scale is small enough."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_float16")
    try:
        x, y = digits()
        data = spoiled(x, y, set(range(1, 300, 2)), steps=300, image=lambda t: t * np.inf)
        fit(log, mlp(32), None, None, data=data)
    finally:
        keras.config.set_dtype_policy(before)


@ill("none")
def gradient_stopped_in_the_middle(log):
    inputs = keras.Input((64,))
    hidden = L.Lambda(tf.stop_gradient)(L.Dense(64, "relu")(inputs))
    fit(log, keras.Model(inputs, L.Dense(10)(hidden)), *digits(), steps=100)


@ill("none")
def head_never_used(log):
    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.body, self.head, self.other = L.Dense(32, "relu"), L.Dense(10), L.Dense(10)

        def call(self, x):
            hidden = self.body(x)
            self.other(hidden)
            return self.head(hidden)

    fit(log, Model(), *digits(), steps=100)


@ill("none")
def rounded_in_the_middle(log):
    x, y = series()
    model = keras.Sequential([keras.Input((32, 1)), L.GRU(8), L.Lambda(tf.round), L.Dense(1)])
    fit(log, model, x, y, loss="mse", optimizer=adam(), steps=100)


@ill("none", onset=100)
def branch_lost_later(log):
    """From step 100 on the encoder's output is fed as a constant."""
    x, y = digits()
    body, head, optimizer = mlp(32, outputs=32), mlp(outputs=10, inputs=32), adam()
    variables = body.trainable_variables + head.trainable_variables
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    with log.writer() as writer:
        for step in range(200):
            at = slice(step * 8, step * 8 + 32)
            with tf.GradientTape() as tape:
                hidden = body(x[at])
                loss = loss_of(y[at], head(hidden if step < 100 else tf.constant(hidden.numpy())))
            gradients = tape.gradient(loss, variables)
            writer.record(gradients, variables, step=step, loss=loss)
            pairs = [(g, v) for g, v in zip(gradients, variables, strict=True) if g is not None]
            if step == 0:
                optimizer.build(variables)
            optimizer.apply([g for g, _ in pairs], [v for _, v in pairs])
