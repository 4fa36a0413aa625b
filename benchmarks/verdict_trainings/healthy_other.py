"""Trainings that look odd and are well: several outputs, mixed precision, fine-tuning, physics, reinforcement."""

import keras
import numpy as np
import tensorflow as tf

from verdict_trainings.data import digits, images, table
from verdict_trainings.registry import healthy
from verdict_trainings.training import CROSSENTROPY, L, adam, batches, fit, mlp, sgd


@healthy()
def two_outputs(log):
    x, y = digits()
    inputs = keras.Input((64,))
    hidden = L.Dense(64, "relu")(inputs)
    model = keras.Model(inputs, [L.Dense(10, name="digit")(hidden), L.Dense(64, name="image")(hidden)])
    data = tf.data.Dataset.from_tensor_slices((x, (y, x))).shuffle(2000, seed=1).repeat().batch(32).take(500)
    fit(log, model, None, None, loss=[CROSSENTROPY, "mse"], data=data)


@healthy()
def unused_head_that_is_named(log):
    class Two(keras.Model):
        def __init__(self):
            super().__init__()
            self.body, self.used, self.spare = L.Dense(64, "relu"), L.Dense(10), L.Dense(3, name="spare")

        def call(self, x):
            hidden = self.body(x)
            self.spare(hidden)
            return self.used(hidden)

    fit(log, Two(), *digits(), ignore=["spare"])


@healthy()
def frozen_layer(log):
    model = mlp(64, 64)
    model.layers[0].trainable = False
    fit(log, model, *digits())


def _float(policy, log, **options):
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        fit(log, mlp(64, 64), *digits(), **options)
    finally:
        keras.config.set_dtype_policy(before)


@healthy()
def mixed_float16(log):
    _float("mixed_float16", log, steps=400)


@healthy()
def mixed_float16_overflows_at_first(log):
    optimizer = keras.optimizers.LossScaleOptimizer(adam(), initial_scale=2.0**24)
    _float("mixed_float16", log, steps=400, optimizer=optimizer)


@healthy()
def mixed_bfloat16(log):
    _float("mixed_bfloat16", log, steps=400)


@healthy()
def float64_regression(log):
    x, y = table()
    _ = keras.config.floatx()
    model = keras.Sequential([keras.Input((8,), dtype="float64"), L.Dense(32, "tanh", dtype="float64")])
    model.add(L.Dense(1, dtype="float64"))
    fit(log, model, x.astype("float64"), y.astype("float64"), loss="mse", optimizer=adam(3e-3), steps=400)


@healthy()
def gradient_accumulation(log):
    fit(log, mlp(64, 64), *digits(), batch=8, optimizer=adam(1e-3, gradient_accumulation_steps=4), steps=1000)


@healthy()
def fine_tuning_with_unfreezing(log):
    x, y = digits()
    model = mlp(64, 64)
    model.compile(adam(), CROSSENTROPY)
    model.fit(batches(x, y % 5, 32, 250), verbose=0)
    callback = log.callback()
    for layer in model.layers[:-1]:
        layer.trainable = False
    fit(log, model, x, y, steps=200, optimizer=adam(3e-3), callback=callback)
    for layer in model.layers:
        layer.trainable = True
    fit(log, model, x, y, steps=250, optimizer=adam(3e-4), callback=callback)


@healthy()
def low_rank_adapters(log):
    x, y = digits()
    base = mlp(64, 64)
    base.compile(adam(), CROSSENTROPY)
    base.fit(batches(x, y % 5, 32, 200), verbose=0)

    class Adapted(L.Layer):
        def __init__(self, dense):
            super().__init__()
            self.dense = dense
            dense.trainable = False

        def build(self, shape):
            self.down = self.add_weight(shape=(shape[-1], 4), initializer="he_normal", name="down")
            self.up = self.add_weight(shape=(4, self.dense.units), initializer="zeros", name="up")

        def call(self, t):
            return self.dense(t) + keras.ops.matmul(keras.ops.matmul(t, self.down), self.up)

    hidden = [Adapted(layer) if isinstance(layer, L.Dense) else layer for layer in base.layers[:-1]]
    fit(log, keras.Sequential([keras.Input((64,)), *hidden, L.Dense(10)]), x, y, optimizer=adam(5e-3), steps=400)


@healthy()
def alternating_tasks(log):
    x, y = digits()
    body, heads = mlp(64, outputs=64), (L.Dense(10), L.Dense(2))
    optimizer = adam(1e-3)
    for head in heads:
        head.build((None, 64))
    variables = body.trainable_variables + heads[0].trainable_variables + heads[1].trainable_variables
    optimizer.build(variables)
    with log.writer() as writer:
        for step, (image, label) in enumerate(batches(x, y, 32, 400)):
            task = step % 2
            with tf.GradientTape() as tape:
                target = label if task == 0 else label % 2
                loss = CROSSENTROPY(target, heads[task](tf.nn.relu(body(image))))
            gradients = tape.gradient(loss, variables)
            writer.record(gradients, variables, step=step, loss=loss)
            pairs = [(g, v) for g, v in zip(gradients, variables, strict=True) if g is not None]
            optimizer.apply([g for g, _ in pairs], [v for _, v in pairs])


@healthy()
def loss_weight_steps_up(log):
    x, y = digits()
    weight = tf.Variable(0.1, trainable=False)

    def loss(target, output):
        return weight * keras.losses.sparse_categorical_crossentropy(target, output, from_logits=True)

    up = keras.callbacks.LambdaCallback(
        on_train_batch_begin=lambda batch, logs: weight.assign(1.0) if batch == 250 else None
    )
    fit(log, mlp(64, 64), x, y, loss=loss, callbacks=[up], steps=500)


@healthy()
def contrastive_pairs(log):
    x, y = digits()
    generator = np.random.default_rng(0)
    left, right = generator.integers(0, len(x), (2, 6000))
    same = (y[left] == y[right]).astype("float32")[:, None]
    tower = mlp(48, outputs=8)
    a, b = keras.Input((64,)), keras.Input((64,))
    distance = L.Lambda(lambda p: tf.sqrt(tf.reduce_sum((p[0] - p[1]) ** 2, 1, keepdims=True) + 1e-6))
    model = keras.Model([a, b], distance([tower(a), tower(b)]))

    def loss(same, d):
        return same * d**2 + (1 - same) * tf.maximum(1.0 - d, 0.0) ** 2

    data = tf.data.Dataset.from_tensor_slices(((x[left], x[right]), same)).repeat().batch(32).take(400)
    fit(log, model, None, None, loss=loss, data=data)


@healthy()
def loss_made_of_derivatives(log):
    """Learns f with f' = cos: the last bias never gets a gradient."""
    model, optimizer = mlp(32, 32, activation="tanh", outputs=1, inputs=1), adam(3e-3)
    variables = model.trainable_variables

    @tf.function
    def gradients_of(x):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = model(x)
            loss = tf.reduce_mean((inner.gradient(y, x) - tf.cos(x)) ** 2)
        return outer.gradient(
            loss, [v.value for v in variables], unconnected_gradients=tf.UnconnectedGradients.ZERO
        ), loss

    with log.writer() as writer:
        for step in range(400):
            gradients, loss = gradients_of(tf.random.uniform([64, 1], -3.0, 3.0))
            writer.record(gradients, variables, step=step, loss=loss)
            optimizer.apply(gradients, variables)


@healthy(learns=False)
def q_learning_with_target(log):
    """A corridor of eight states, reward at its end."""
    generator = np.random.default_rng(0)
    value, target = mlp(32, outputs=2, inputs=8), mlp(32, outputs=2, inputs=8)
    optimizer, variables = adam(2e-3), value.trainable_variables
    eye = np.eye(8, dtype="float32")
    with log.writer() as writer:
        for step in range(600):
            if step % 50 == 0:
                target.set_weights(value.get_weights())
            s, a = generator.integers(0, 8, 32), generator.integers(0, 2, 32)
            n = np.clip(s + 2 * a - 1, 0, 7)
            reward = (n == 7).astype("float32")
            aim = reward + 0.9 * (1 - reward) * target(eye[n]).numpy().max(1)
            with tf.GradientTape() as tape:
                guess = tf.gather(value(eye[s]), a, batch_dims=1)
                loss = tf.reduce_mean((guess - aim) ** 2)
            gradients = tape.gradient(loss, variables)
            writer.record(gradients, variables, step=step, loss=loss)
            optimizer.apply(gradients, variables)


@healthy(learns=False)
def policy_gradient_bandit(log):
    generator = np.random.default_rng(0)
    policy, optimizer = mlp(16, outputs=4, inputs=4), adam(1e-2)
    variables = policy.trainable_variables
    baseline = 0.0
    with log.writer() as writer:
        for step in range(500):
            context = generator.integers(0, 4, 32)
            eye = np.eye(4, dtype="float32")[context]
            action = tf.random.categorical(policy(eye), 1)[:, 0].numpy()
            reward = (action == context).astype("float32") + generator.normal(0, 0.1, 32).astype("float32")
            baseline = 0.95 * baseline + 0.05 * reward.mean()
            with tf.GradientTape() as tape:
                chosen = tf.nn.sparse_softmax_cross_entropy_with_logits(action, policy(eye))
                loss = tf.reduce_mean(chosen * (reward - baseline))
            gradients = tape.gradient(loss, variables)
            writer.record(gradients, variables, step=step, loss=loss)
            optimizer.apply(gradients, variables)


@healthy()
def augmented_batches_vary(log):
    x, y = images()
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            L.RandomTranslation(0.2, 0.2),
            L.RandomContrast(0.5),
            L.Conv2D(16, 3, activation="relu"),
            L.Flatten(),
            L.Dense(10),
        ]
    )
    fit(log, model, x, y, optimizer=sgd(0.1, 0.9), steps=400)


@healthy()
def imbalanced_rare_class(log):
    x, y = digits()
    rare = (y == 3).astype("float32")
    keep = (rare == 0) | (np.arange(len(y)) % 10 == 0)
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    fit(log, mlp(64, 32, outputs=1), x[keep], rare[keep, None], loss=loss, batch=16, steps=800)
