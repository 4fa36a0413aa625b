"""Healthy trainings in custom loops: several networks, several losses, and what TensorFlow differentiates specially."""

import keras
import numpy as np
import tensorflow as tf

import tb_gradhealth
from healthy_trainings.common import STEPS, dense, loop, noise, training


@training
def gan(directory):
    generator, critic = dense(8, 4, inputs=3), dense(8, 1)
    optimizers = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)
    cross = keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def step(real, z):
        with tf.GradientTape() as of_critic, tf.GradientTape() as of_generator:
            made = generator(z)
            yes, no = critic(real), critic(made)
            critic_loss = cross(tf.ones_like(yes), yes) + cross(tf.zeros_like(no), no)
            generator_loss = cross(tf.ones_like(no), no)
        return (
            of_critic.gradient(critic_loss, critic.trainable_variables),
            of_generator.gradient(generator_loss, generator.trainable_variables),
        )

    with tb_gradhealth.GradHealthWriter(directory) as writer:
        for number in range(STEPS):
            first, second = step(noise(16, 4, seed=number), noise(16, 3, seed=number))
            writer.record(first, critic.trainable_variables, group="critic")
            writer.record(second, generator.trainable_variables, group="generator")
            optimizers[0].apply(first, critic.trainable_variables)
            optimizers[1].apply(second, generator.trainable_variables)


@training
def wasserstein_gan_with_gradient_penalty(directory):
    critic = dense(8, 8, 1)
    real, made = noise(16, 4), noise(16, 4, seed=2)

    def loss():
        between = 0.3 * real + 0.7 * made
        with tf.GradientTape() as inner:
            inner.watch(between)
            score = critic(between)
        slope = tf.norm(inner.gradient(score, between), axis=1)
        return tf.reduce_mean(critic(made) - critic(real)) + 10.0 * tf.reduce_mean((slope - 1.0) ** 2)

    loop(directory, critic.trainable_variables[:-1], loss)


@training
def deep_q_learning(directory):
    online, target = dense(16, 3, activation="relu"), dense(16, 3, activation="relu")
    target.set_weights(online.get_weights())
    state, following, reward = noise(32, 4), noise(32, 4, seed=2), noise(32, seed=3)
    action = tf.range(32) % 3

    def loss():
        best = tf.reduce_max(target(following), axis=1)
        wanted = tf.stop_gradient(reward + 0.9 * best)
        chosen = tf.reduce_sum(online(state) * tf.one_hot(action, 3), axis=1)
        greedy = tf.argmax(online(state), axis=1)
        tf.debugging.assert_non_negative(greedy)
        return tf.reduce_mean(keras.losses.huber(wanted[:, None], chosen[:, None]))

    loop(directory, online.trainable_variables, loss)


@training
def actor_critic(directory):
    actor, critic = dense(8, 3), dense(8, 1)
    state, returns = noise(32, 4), noise(32, seed=2)

    def loss():
        logits, value = actor(state), critic(state)[:, 0]
        action = tf.random.categorical(tf.stop_gradient(logits), 1, dtype=tf.int32)[:, 0]
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(action, logits)
        advantage = returns - value
        return tf.reduce_mean(tf.square(advantage)) - tf.reduce_mean(logp * tf.stop_gradient(advantage))

    loop(directory, actor.trainable_variables + critic.trainable_variables, loss)


@training
def vae(directory):
    encoder, decoder = dense(8, 4), dense(8, 4, inputs=2)
    x = noise(32, 4)

    def loss():
        mean, log_variance = tf.split(encoder(x), 2, axis=1)
        z = mean + tf.exp(0.5 * log_variance) * noise(32, 2, seed=3)
        kl = -0.5 * tf.reduce_mean(1.0 + log_variance - mean**2 - tf.exp(log_variance))
        return tf.reduce_mean((decoder(z) - x) ** 2) + kl

    loop(directory, encoder.trainable_variables + decoder.trainable_variables, loss, compiled=False)


@training
def vector_quantised(directory):
    encoder, decoder = dense(8, 2), dense(8, 4, inputs=2)
    codes = tf.Variable(noise(5, 2), name="codes")
    x = noise(64, 4)

    def loss():
        z = encoder(x)
        nearest = tf.argmin(tf.reduce_sum((z[:, None] - codes[None]) ** 2, -1), axis=1)
        picked = tf.gather(codes, nearest)
        straight = z + tf.stop_gradient(picked - z)
        commit = tf.reduce_mean((tf.stop_gradient(picked) - z) ** 2)
        return (
            tf.reduce_mean((decoder(straight) - x) ** 2) + commit + tf.reduce_mean((picked - tf.stop_gradient(z)) ** 2)
        )

    loop(directory, [*encoder.trainable_variables, codes, *decoder.trainable_variables], loss)


@training
def sequence_to_sequence_with_teacher_forcing(directory):
    encoder, cell = keras.layers.GRU(8, return_state=True), keras.layers.GRUCell(8)
    head = keras.layers.Dense(5)
    source, target = noise(16, 6, 3), tf.one_hot(tf.reshape(tf.range(16 * 4) % 5, [16, 4]), 5)
    encoder(source), cell(target[:, 0], noise(16, 8)), head(noise(16, 8))

    def loss():
        _, state = encoder(source)
        total = tf.constant(0.0)
        for t in range(3):
            out, state = cell(target[:, t], state)
            state = state[0] if isinstance(state, list | tuple) else state
            total += tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(target[:, t + 1], head(out)))
        return total

    variables = [*encoder.trainable_variables, *cell.trainable_variables, *head.trainable_variables]
    loop(directory, variables, loss)


@training
def gradient_accumulation(directory):
    model = dense(8, 1)
    optimizer = keras.optimizers.Adam(1e-3)
    variables = model.trainable_variables
    with tb_gradhealth.GradHealthWriter(directory) as writer:
        for number in range(STEPS):
            total = [tf.zeros_like(v) for v in variables]
            for part in range(3):
                x = noise(8, 4, seed=10 * number + part)
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((model(x) - tf.reduce_sum(x, 1, keepdims=True)) ** 2)
                total = [a + g for a, g in zip(total, tape.gradient(loss, variables), strict=True)]
            writer.record(total, variables)
            optimizer.apply(total, variables)


@training
def map_fn(directory):
    model, x = dense(8, 1), noise(6, 3, 4)
    loop(directory, model.trainable_variables, lambda: tf.reduce_mean(tf.map_fn(lambda row: model(row) ** 2, x)))


@training
def while_loop(directory):
    w = tf.Variable(0.3 * noise(4, 4), name="w")

    def loss():
        _, h = tf.while_loop(lambda i, h: i < 5, lambda i, h: (i + 1, tf.tanh(h @ w + 0.1)), (0, noise(8, 4)))
        return tf.reduce_mean(h**2)

    loop(directory, [w], loss)


@training
def tensor_array(directory):
    w = tf.Variable(0.3 * noise(4, 4), name="w")

    def loss():
        array, h = tf.TensorArray(tf.float32, 4), noise(8, 4)
        for t in tf.range(4):
            h = tf.tanh(h @ w)
            array = array.write(t, h)
        return tf.reduce_mean(array.stack() ** 2)

    loop(directory, [w], loss)


@training
def ragged(directory):
    table = tf.Variable(noise(10, 4), name="table")
    rows = tf.ragged.constant([[1, 2], [3], [4, 5, 6]])
    loop(directory, [table], lambda: tf.reduce_mean(tf.reduce_mean(tf.gather(table, rows), axis=1) ** 2))


@training
def sparse(directory):
    w = tf.Variable(noise(6, 3), name="w")
    matrix = tf.sparse.from_dense(tf.constant(np.eye(6, dtype="float32")))
    loop(directory, [w], lambda: tf.reduce_mean(tf.sparse.sparse_dense_matmul(matrix, w) ** 2))


@training
def recompute_grad(directory):
    model, x = dense(8, 8), noise(16, 4)
    light = tf.recompute_grad(lambda h: model(h) * 1.0)
    loop(directory, model.trainable_variables, lambda: tf.reduce_mean(light(x) ** 2))


@training
def second_order(directory):
    w = tf.Variable(noise(3), name="w")

    def loss():
        with tf.GradientTape() as inner:
            value = tf.reduce_sum(tf.sin(w) ** 2)
        return tf.reduce_sum(inner.gradient(value, w) ** 2) + value

    loop(directory, [w], loss, compiled=False)


@training
def custom_gradient(directory):
    w = tf.Variable(noise(3), name="w")

    @tf.custom_gradient
    def rounded(x):
        return tf.round(x), lambda dy: dy

    loop(directory, [w], lambda: tf.reduce_sum((rounded(w) - 0.3 * w) ** 2))


@training
def session_of_tensorflow_1(directory):
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 4])
        w = v1.get_variable("w", [4, 3], initializer=v1.glorot_uniform_initializer(seed=1))
        loss = tf.reduce_mean(tf.tanh(x @ w) ** 2)
        optimizer = v1.train.GradientDescentOptimizer(0.1)
        pairs = optimizer.compute_gradients(loss)
        train = optimizer.apply_gradients(pairs)
        hook = tb_gradhealth.v1.GradHealthHook(directory, pairs, loss=loss)
        with hook, v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for _ in range(STEPS):
                _, rows = session.run([train, hook.rows], {x: np.ones((5, 4), "float32")})
                hook.record(rows)
