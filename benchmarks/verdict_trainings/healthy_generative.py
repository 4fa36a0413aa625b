"""Generative trainings that go well: their losses need not fall."""

import keras
import tensorflow as tf

from verdict_trainings.data import digits
from verdict_trainings.registry import healthy
from verdict_trainings.training import L, adam, batches, fit, mlp


@healthy()
def vae(log):
    x, _ = digits()

    class Sample(L.Layer):
        def call(self, parts):
            mean, log_variance = parts
            self.add_loss(1e-2 * tf.reduce_mean(tf.square(mean) + tf.exp(log_variance) - 1.0 - log_variance))
            return mean + tf.exp(0.5 * log_variance) * tf.random.normal(tf.shape(mean))

    inputs = keras.Input((64,))
    hidden = L.Dense(48, "relu")(inputs)
    code = Sample()((L.Dense(4)(hidden), L.Dense(4)(hidden)))
    output = L.Dense(64)(L.Dense(48, "relu")(code))
    fit(log, keras.Model(inputs, output), x, x, loss="mse", steps=600)


@healthy()
def denoising_autoencoder(log):
    x, _ = digits()
    model = keras.Sequential([keras.Input((64,)), L.GaussianNoise(0.3), L.Dense(32, "relu"), L.Dense(64, "sigmoid")])
    fit(log, model, x, x, loss="binary_crossentropy", optimizer=adam(3e-3), steps=500)


def adversarial(log, critic_loss, maker_loss, *, steps, critic_steps=1, rate=5e-4):
    """Trains a maker against a critic; `critic_loss(critic, real, fake)` and `maker_loss(critic, fake)`."""
    x, _ = digits()
    maker, critic = mlp(64, outputs=64, inputs=8), mlp(64, 64, outputs=1, activation="leaky_relu")
    makes = keras.optimizers.Adam(rate, beta_1=0.5)
    judges = keras.optimizers.Adam(rate, beta_1=0.5)

    @tf.function
    def judge(real):
        fake = maker(tf.random.normal([32, 8]))
        with tf.GradientTape() as tape:
            loss = critic_loss(critic, real, fake)
        gradients = tape.gradient(loss, critic.trainable_variables)
        judges.apply(gradients, critic.trainable_variables)
        return gradients, loss

    @tf.function
    def make():
        with tf.GradientTape() as tape:
            loss = maker_loss(critic, maker(tf.random.normal([32, 8])))
        gradients = tape.gradient(loss, maker.trainable_variables)
        makes.apply(gradients, maker.trainable_variables)
        return gradients, loss

    with log.writer() as writer:
        for step, (real, _) in enumerate(batches(x, x, 32, steps)):
            gradients, loss = judge(real)
            writer.record(gradients, critic.trainable_variables, step=step, loss=loss, group="critic")
            if step % critic_steps == 0:
                gradients, loss = make()
                writer.record(gradients, maker.trainable_variables, step=step, loss=loss, group="maker")


@healthy(learns=False)
def wgan_gradient_penalty(log):
    def critic_loss(critic, real, fake):
        mix = real + tf.random.uniform([32, 1]) * (fake - real)
        with tf.GradientTape() as tape:
            tape.watch(mix)
            judged = critic(mix)
        slope = tf.sqrt(tf.reduce_sum(tape.gradient(judged, mix) ** 2, 1) + 1e-12)
        return tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real)) + 10 * tf.reduce_mean((slope - 1) ** 2)

    adversarial(log, critic_loss, lambda critic, fake: -tf.reduce_mean(critic(fake)), steps=500, critic_steps=3)


@healthy(learns=False)
def gan_non_saturating(log):
    def critic_loss(critic, real, fake):
        return tf.reduce_mean(tf.nn.softplus(-critic(real)) + tf.nn.softplus(critic(fake)))

    adversarial(log, critic_loss, lambda critic, fake: tf.reduce_mean(tf.nn.softplus(-critic(fake))), steps=500)
