"""Trainings whose gradients do not reach, or no longer reach, where they are needed."""

import keras
import numpy as np
import tensorflow as tf

from verdict_trainings.data import digits, images, series, text
from verdict_trainings.healthy_generative import adversarial
from verdict_trainings.healthy_sequence import Positions
from verdict_trainings.registry import ill
from verdict_trainings.training import L, adam, fit, mlp, normal, sgd


@ill("vanishing")
def deep_sigmoid_12_sgd(log):
    fit(log, mlp(*[64] * 12, activation="sigmoid"), *digits(), optimizer=sgd(0.1, 0.9))


@ill("vanishing")
def deep_sigmoid_20_adam(log):
    fit(log, mlp(*[32] * 20, activation="sigmoid"), *digits())


@ill("vanishing")
def deep_sigmoid_8_sgd(log):
    fit(log, mlp(*[64] * 8, activation="sigmoid"), *digits(), optimizer=sgd(0.1))


@ill("vanishing")
def deep_tanh_small_init(log):
    fit(log, mlp(*[64] * 12, activation="tanh", init=normal(0.03)), *digits(), optimizer=sgd(0.1))


@ill("vanishing", "zero")
def deep_relu_small_init(log):
    fit(log, mlp(*[64] * 12, init=normal(0.03)), *digits(), optimizer=sgd(0.1))


@ill("vanishing", "zero")
def deep_softmax_hidden(log):
    fit(log, mlp(*[32] * 5, activation="softmax"), *digits(), optimizer=sgd(0.1))


@ill("vanishing")
def deep_sigmoid_autoencoder(log):
    x, _ = digits()
    model = mlp(48, 32, 16, 8, 16, 32, 48, activation="sigmoid", outputs=64)
    fit(log, model, x, x, loss="mse", optimizer=sgd(0.1))


@ill("vanishing", "zero")
def deep_tanh_saturated_by_init(log):
    fit(log, mlp(*[64] * 6, activation="sigmoid", init=normal(3.0)), *digits(), optimizer=sgd(0.01))


@ill("vanishing", "zero")
def tanh_on_unscaled_inputs(log):
    x, y = digits()
    fit(log, mlp(64, 64, activation="tanh"), x * 20000, y, optimizer=sgd(0.05))


@ill("vanishing", "zero")
def saturated_sigmoid_output(log):
    x, y = digits()
    model = keras.Sequential(
        [
            keras.Input((64,)),
            L.Dense(32, "relu"),
            L.Dense(1, "sigmoid", bias_initializer=keras.initializers.Constant(25.0)),
        ]
    )
    fit(log, model, x, (y > 20).astype("float32")[:, None], loss="mse", optimizer=sgd(0.1))


@ill("vanishing", "zero")
def saturated_softmax_output(log):
    x, y = digits()
    model = keras.Sequential([keras.Input((64,)), L.Dense(32, "relu"), L.Dense(10, kernel_initializer=normal(80.0))])
    model.add(L.Softmax())
    fit(log, model, x, keras.utils.to_categorical(y, 10), loss="mse", optimizer=sgd(0.1))


@ill("vanishing", "zero")
def attention_saturated(log):
    x, y = images()

    class Hard(L.Layer):
        def build(self, shape):
            self.q = self.add_weight(shape=(shape[-1], 32), initializer=normal(6.0), name="query")
            self.k = self.add_weight(shape=(shape[-1], 32), initializer=normal(6.0), name="key")

        def call(self, t):
            scores = tf.matmul(t @ self.q, t @ self.k, transpose_b=True)
            return tf.matmul(tf.nn.softmax(scores), t)

    inputs = keras.Input((8, 8))
    hidden = Hard()(Positions()(L.Dense(32)(inputs)))
    fit(log, keras.Model(inputs, L.Dense(10)(L.Flatten()(hidden))), x[..., 0], y)


@ill("vanishing", "zero")
def rnn_forgets_its_first_token(log):
    generator = np.random.default_rng(0)
    y = generator.integers(0, 4, 2000)
    x = np.zeros((2000, 60, 4), "float32")
    x[np.arange(2000), 0, y] = 1
    cell = L.SimpleRNN(16, recurrent_initializer=keras.initializers.Identity(0.5), use_bias=True)
    fit(log, keras.Sequential([keras.Input((60, 4)), cell, L.Dense(4)]), x, y, optimizer=sgd(0.1), steps=300)


@ill("vanishing", "zero")
def rnn_sigmoid_stack_forgets(log):
    x, y = series()
    cells = [L.SimpleRNN(16, activation="sigmoid", return_sequences=k < 5) for k in range(6)]
    fit(
        log,
        keras.Sequential([keras.Input((32, 1)), *cells, L.Dense(1)]),
        x,
        y,
        loss="mse",
        optimizer=sgd(0.1),
        steps=250,
    )


@ill("vanishing", "zero")
def lstm_forgets_its_first_token(log):
    generator = np.random.default_rng(0)
    y = generator.integers(0, 4, 2000)
    x = np.zeros((2000, 60, 4), "float32")
    x[np.arange(2000), 0, y] = 1
    bias = keras.initializers.Constant(-3.0)
    cell = L.LSTM(16, bias_initializer=bias, unit_forget_bias=False)
    fit(log, keras.Sequential([keras.Input((60, 4)), cell, L.Dense(4)]), x, y, optimizer=sgd(0.1), steps=300)


@ill("vanishing", "zero")
def highway_gates_shut(log):
    x = inputs = keras.Input((64,))
    for _ in range(6):
        gate = L.Dense(64, "sigmoid", bias_initializer=keras.initializers.Constant(-6.0))(x)
        x = L.Multiply()([gate, L.Dense(64, "tanh")(x)])
    fit(log, keras.Model(inputs, L.Dense(10)(x)), *digits(), optimizer=sgd(0.1))


@ill("vanishing", "zero")
def deep_embedding_text_sigmoid(log):
    x, y, size = text()
    layers = [L.Dense(32, "sigmoid") for _ in range(10)]
    model = keras.Sequential([keras.Input((24,)), L.Embedding(size, 16), *layers, L.Dense(size)])
    fit(log, model, x, y, optimizer=sgd(0.1), batch=16, steps=300)


@ill("vanishing", "zero", onset=1)
def gan_saturating_loss(log):
    """The critic wins at once, and log(1 - D) gives its maker nothing."""

    def critic_loss(critic, real, fake):
        return tf.reduce_mean(tf.nn.softplus(-40 * critic(real)) + tf.nn.softplus(40 * critic(fake)))

    adversarial(
        log, critic_loss, lambda critic, fake: -tf.reduce_mean(tf.nn.softplus(40 * critic(fake))), steps=400, rate=3e-3
    )


@ill("vanishing", "zero", onset=200)
def saturates_after_a_jump(log):
    """Weights blown up at step 200, as by a bad checkpoint: hidden sigmoids saturate."""
    model = mlp(64, 64, activation="sigmoid")

    def jump(batch, logs):
        if batch == 200:
            for layer in model.layers[:-1]:
                layer.set_weights([5000 * w for w in layer.get_weights()])

    fit(
        log,
        model,
        *digits(),
        callbacks=[keras.callbacks.LambdaCallback(on_train_batch_begin=jump)],
        optimizer=adam(3e-3),
    )
