"""Dense networks that train well."""

import keras

from verdict_trainings.data import digits, table
from verdict_trainings.registry import healthy
from verdict_trainings.training import CROSSENTROPY, L, adam, fit, mlp, sgd


@healthy()
def mlp_relu_momentum(log):
    fit(log, mlp(64, 32), *digits(), optimizer=sgd(0.05, 0.9))


@healthy()
def mlp_relu_adam(log):
    fit(log, mlp(128, 64), *digits(), steps=800)


@healthy()
def mlp_relu_rmsprop(log):
    fit(log, mlp(64, 64), *digits(), optimizer=keras.optimizers.RMSprop(1e-3))


@healthy()
def mlp_relu_lion(log):
    fit(log, mlp(64, 64), *digits(), optimizer=keras.optimizers.Lion(3e-4))


@healthy()
def mlp_gelu_warmup_cosine(log):
    rate = keras.optimizers.schedules.CosineDecay(0.0, 550, warmup_target=3e-3, warmup_steps=50)
    fit(log, mlp(64, 64, activation="gelu"), *digits(), optimizer=keras.optimizers.AdamW(rate), steps=600)


@healthy()
def mlp_dropout(log):
    model = keras.Sequential(
        [keras.Input((64,)), L.Dense(128, "relu"), L.Dropout(0.5), L.Dense(64, "relu"), L.Dropout(0.5), L.Dense(10)]
    )
    fit(log, model, *digits(), steps=600)


@healthy()
def mlp_batchnorm_sgd(log):
    fit(log, mlp(64, 64, norm=L.BatchNormalization), *digits(), optimizer=sgd(0.1))


@healthy()
def mlp_layernorm_adam(log):
    fit(log, mlp(64, 64, 64, norm=L.LayerNormalization), *digits())


@healthy()
def mlp_tanh_sgd(log):
    fit(log, mlp(64, 64, 64, activation="tanh"), *digits(), optimizer=sgd(0.1))


@healthy()
def mlp_sigmoid_shallow(log):
    fit(log, mlp(64, activation="sigmoid"), *digits(), optimizer=adam(3e-3))


@healthy()
def mlp_sigmoid_two_hidden(log):
    fit(log, mlp(64, 64, activation="sigmoid"), *digits(), optimizer=adam(5e-3), steps=600)


@healthy()
def mlp_selu_deep(log):
    fit(log, mlp(*[48] * 10, activation="selu", init="lecun_normal"), *digits(), optimizer=adam(5e-4), steps=600)


@healthy()
def mlp_he_deep(log):
    fit(log, mlp(*[64] * 8, init="he_normal"), *digits(), optimizer=adam(5e-4))


@healthy()
def logistic_regression(log):
    fit(log, mlp(), *digits(), optimizer=sgd(0.5), steps=600)


@healthy()
def interpolation_to_tiny_loss(log):
    x, y = digits()
    fit(log, mlp(128), x[:200], y[:200], batch=200, optimizer=adam(1e-2), steps=900)


@healthy()
def converging_full_batch(log):
    x, _ = table()
    data = x[:256], (x[:256] @ x[:8, :1] * 0.1)
    fit(log, mlp(outputs=1, inputs=8), *data, batch=256, optimizer=sgd(0.2), loss="mse", steps=500)


@healthy()
def mlp_label_smoothing(log):
    x, y = digits()
    loss = keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)
    fit(log, mlp(64, 64), x, keras.utils.to_categorical(y, 10), loss=loss, batch=256, optimizer=adam(3e-3))


@healthy()
def mlp_batch_of_four(log):
    fit(log, mlp(64, 32), *digits(), batch=4, optimizer=adam(1e-3), steps=1200)


@healthy()
def mlp_summed_loss(log):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")
    fit(log, mlp(64, 32), *digits(), loss=loss, optimizer=sgd(1e-3, 0.9))


@healthy()
def regression_mse(log):
    fit(log, mlp(64, 64, outputs=1, inputs=8), *table(), loss="mse", steps=600)


@healthy()
def regression_huber_heavy_tails(log):
    import numpy as np

    x, y = table()
    noisy = y + np.random.default_rng(3).standard_t(1.5, y.shape).astype("float32")
    fit(log, mlp(64, 64, outputs=1, inputs=8), x, noisy, loss="huber", steps=600)


@healthy()
def regression_l2_and_decay(log):
    model = mlp(64, 64, outputs=1, inputs=8, kernel_regularizer=keras.regularizers.L2(1e-4))
    rate = keras.optimizers.schedules.ExponentialDecay(1e-2, 100, 0.6)
    fit(log, model, *table(), loss="mse", optimizer=adam(rate), steps=600)


@healthy()
def one_cycle(log):
    class OneCycle(keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            part = keras.ops.cast(step, "float32") / 500
            return 0.2 * keras.ops.maximum(1 - keras.ops.abs(2 * part - 1), 0.01)

        def get_config(self):
            return {}

    fit(log, mlp(64, 64), *digits(), optimizer=sgd(OneCycle(), 0.9), steps=500)


@healthy()
def zero_initialised_output(log):
    model = keras.Sequential(
        [keras.Input((64,)), L.Dense(64, "relu"), L.Dense(64, "relu"), L.Dense(10, kernel_initializer="zeros")]
    )
    fit(log, model, *digits(), loss=CROSSENTROPY)


@healthy()
def rezero_deep(log):
    class ReZero(L.Layer):
        def build(self, shape):
            self.dense = L.Dense(shape[-1], "relu", kernel_initializer="he_normal")
            self.dense.build(shape)
            self.alpha = self.add_weight(shape=(), initializer="zeros", name="alpha")

        def call(self, x):
            return x + self.alpha * self.dense(x)

    model = keras.Sequential([keras.Input((64,)), *[ReZero() for _ in range(12)], L.Dense(10)])
    fit(log, model, *digits(), optimizer=adam(2e-3), steps=500)
