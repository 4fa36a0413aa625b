"""Healthy trainings of the fresh half: written after the rules were tuned, scored when they were frozen."""

import keras
import numpy as np
import tensorflow as tf

from verdict_trainings.data import digits, images, series, table, text, words
from verdict_trainings.healthy_generative import adversarial
from verdict_trainings.healthy_sequence import transformer
from verdict_trainings.registry import healthy
from verdict_trainings.training import CROSSENTROPY, L, adam, batches, fit, mlp, sgd


@healthy()
def mlp_swish_nadam(log):
    fit(log, mlp(96, 48, activation="silu"), *digits(), optimizer=keras.optimizers.Nadam(1e-3))


@healthy()
def cnn_pooling_dropout_nesterov(log):
    layers = [L.Conv2D(16, 3, padding="same", activation="relu"), L.MaxPooling2D(), L.Dropout(0.3)]
    layers += [L.Conv2D(32, 3, padding="same", activation="relu"), L.GlobalAveragePooling2D(), L.Dense(10)]
    model = keras.Sequential([keras.Input((8, 8, 1)), *layers])
    fit(log, model, *images(), optimizer=sgd(0.05, 0.9, nesterov=True), steps=500)


@healthy()
def resnet_pre_activation_decay(log):
    x = inputs = keras.Input((8, 8, 1))
    x = L.Conv2D(16, 3, padding="same")(x)
    for _ in range(3):
        y = L.Conv2D(16, 3, padding="same")(L.ReLU()(L.BatchNormalization()(x)))
        x = L.Add()([x, L.Conv2D(16, 3, padding="same")(L.ReLU()(L.BatchNormalization()(y)))])
    model = keras.Model(inputs, L.Dense(10)(L.GlobalAveragePooling2D()(x)))
    fit(log, model, *images(), optimizer=keras.optimizers.AdamW(2e-3, weight_decay=0.05), steps=300)


@healthy()
def gru_words_rmsprop(log):
    ids, label, size = words()
    model = keras.Sequential([keras.Input((20,)), L.Embedding(size, 16), L.GRU(24), L.Dense(1)])
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    fit(log, model, ids, label[:, None], loss=loss, optimizer=keras.optimizers.RMSprop(2e-3), steps=500)


@healthy()
def bidirectional_lstm_series(log):
    x, y = series()
    model = keras.Sequential([keras.Input((32, 1)), L.Bidirectional(L.LSTM(12)), L.LayerNormalization(), L.Dense(1)])
    fit(log, model, x, y, loss="mse", optimizer=adam(3e-3))


@healthy()
def transformer_text_lion_warmup(log):
    x, y, size = text()
    rate = keras.optimizers.schedules.CosineDecay(0.0, 300, warmup_target=3e-4, warmup_steps=60)
    fit(log, transformer(size, 24), x, y, optimizer=keras.optimizers.Lion(rate), batch=16, steps=360)


@healthy()
def vae_with_annealed_kl(log):
    x, _ = digits()
    weight = tf.Variable(0.0, trainable=False)

    class Sample(L.Layer):
        def call(self, parts):
            mean, log_variance = parts
            self.add_loss(weight * tf.reduce_mean(tf.square(mean) + tf.exp(log_variance) - 1.0 - log_variance))
            return mean + tf.exp(0.5 * log_variance) * tf.random.normal(tf.shape(mean))

    inputs = keras.Input((64,))
    hidden = L.Dense(48, "tanh")(inputs)
    code = Sample()((L.Dense(3)(hidden), L.Dense(3)(hidden)))
    rise = keras.callbacks.LambdaCallback(
        on_train_batch_begin=lambda batch, logs: weight.assign(min(batch / 300, 1.0) * 1e-2)
    )
    model = keras.Model(inputs, L.Dense(64)(L.Dense(48, "tanh")(code)))
    fit(log, model, x, x, loss="mse", optimizer=adam(2e-3), callbacks=[rise], steps=500)


@healthy(learns=False)
def gan_hinge(log):
    def critic_loss(critic, real, fake):
        return tf.reduce_mean(tf.nn.relu(1 - critic(real)) + tf.nn.relu(1 + critic(fake)))

    adversarial(log, critic_loss, lambda critic, fake: -tf.reduce_mean(critic(fake)), steps=400, rate=3e-4)


@healthy()
def skip_gram_with_negatives(log):
    ids, _, size = words()
    generator = np.random.default_rng(0)
    centre, beside = ids[:, 5:15].ravel(), ids[:, 6:16].ravel()
    other = generator.integers(0, size, len(centre)).astype("int32")
    pairs = np.concatenate([np.stack([centre, beside], 1), np.stack([centre, other], 1)])
    label = np.repeat([1.0, 0.0], len(centre)).astype("float32")[:, None]
    order = generator.permutation(len(pairs))
    inputs = keras.Input((2,), dtype="int32")
    left = L.Embedding(size, 24)(L.Lambda(lambda t: t[:, 0])(inputs))
    right = L.Embedding(size, 24)(L.Lambda(lambda t: t[:, 1])(inputs))
    model = keras.Model(inputs, L.Dot(1)([left, right]))
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    fit(log, model, pairs[order], label[order], loss=loss, optimizer=adam(1e-2), batch=128)


@healthy()
def tied_autoencoder(log):
    x, _ = digits()

    class Tied(keras.Model):
        def __init__(self):
            super().__init__()
            self.encode = L.Dense(24, "tanh")
            self.shift = self.add_weight(shape=(64,), initializer="zeros", name="shift")

        def call(self, t):
            return keras.ops.matmul(self.encode(t), keras.ops.transpose(self.encode.kernel)) + self.shift

    fit(log, Tied(), x, x, loss="mse", optimizer=adam(2e-3), steps=500)


@healthy()
def three_outputs_of_unequal_weight(log):
    x, y = digits()
    inputs = keras.Input((64,))
    hidden = L.Dense(64, "relu")(L.Dense(64, "relu")(inputs))
    model = keras.Model(inputs, [L.Dense(10)(hidden), L.Dense(64)(hidden), L.Dense(1)(hidden)])
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    targets = (y, x, (y % 2).astype("float32")[:, None])
    data = tf.data.Dataset.from_tensor_slices((x, targets)).shuffle(2000, seed=1).repeat().batch(32).take(400)

    class Weighted(keras.losses.Loss):
        def call(self, target, output):
            return 10.0 * tf.reduce_mean(tf.square(target - output), -1)

    fit(log, model, None, None, loss=[CROSSENTROPY, Weighted(), loss], data=data)


@healthy()
def batchnorm_cnn_batches_of_eight(log):
    layers = [L.Conv2D(16, 3), L.BatchNormalization(), L.ReLU(), L.Conv2D(16, 3), L.BatchNormalization(), L.ReLU()]
    model = keras.Sequential([keras.Input((8, 8, 1)), *layers, L.Flatten(), L.Dense(10)])
    fit(log, model, *images(), optimizer=sgd(0.02, 0.9), batch=8, steps=600)


@healthy()
def layernorm_tanh_eight_deep(log):
    fit(log, mlp(*[48] * 8, activation="tanh", norm=L.LayerNormalization), *digits(), optimizer=adam(1e-3))


@healthy()
def mixed_float16_cnn(log):
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_float16")
    try:
        layers = [L.Conv2D(16, 3, activation="relu"), L.Conv2D(16, 3, activation="relu"), L.Flatten()]
        model = keras.Sequential([keras.Input((8, 8, 1)), *layers, L.Dense(10, dtype="float32")])
        fit(log, model, *images(), optimizer=adam(2e-3), steps=300)
    finally:
        keras.config.set_dtype_policy(before)


@healthy()
def accumulation_by_hand(log):
    """Micro-batches of four are recorded, their sums applied."""
    x, y = digits()
    model, optimizer = mlp(64, 32), adam(2e-3)
    variables = model.trainable_variables

    @tf.function
    def gradients_of(image, label):
        with tf.GradientTape() as tape:
            loss = CROSSENTROPY(label, model(image))
        return tape.gradient(loss, variables), loss

    with log.writer() as writer:
        total = [tf.zeros_like(v.value) for v in variables]
        for step, (image, label) in enumerate(batches(x, y, 4, 800)):
            gradients, loss = gradients_of(image, label)
            writer.record(gradients, variables, step=step, loss=loss)
            total = [t + g for t, g in zip(total, gradients, strict=True)]
            if step % 8 == 7:
                optimizer.apply([t / 8 for t in total], variables)
                total = [tf.zeros_like(t) for t in total]


@healthy()
def unfreezing_from_the_top(log):
    x, y = digits()
    model = mlp(48, 48, 48)
    model.compile(adam(), CROSSENTROPY)
    model.fit(batches(x, y // 2, 32, 250), verbose=0)
    callback, dense = log.callback(), [layer for layer in model.layers if isinstance(layer, L.Dense)]
    for thawed in range(1, 5):
        for layer in dense:
            layer.trainable = layer in dense[-thawed:]
        fit(log, model, x, y, steps=120, optimizer=adam(2e-3 / thawed), callback=callback)


@healthy()
def distillation_at_a_temperature(log):
    x, y = digits()
    teacher = mlp(128)
    teacher.compile(adam(), CROSSENTROPY)
    teacher.fit(batches(x, y, 32, 250), verbose=0)
    soft = tf.nn.softmax(teacher(x) / 3.0).numpy()

    def loss(target, output):
        return 9.0 * keras.losses.categorical_crossentropy(target, output / 3.0, from_logits=True)

    fit(log, mlp(24), x, soft, loss=loss, optimizer=adam(3e-3))


@healthy()
def sine_activations_fit_a_curve(log):
    t = np.linspace(-1, 1, 1024, dtype="float32")[:, None]
    first = keras.initializers.RandomUniform(-1.0, 1.0, seed=1)
    inner = keras.initializers.RandomUniform(-0.02, 0.02, seed=2)
    layers = [L.Dense(48, kernel_initializer=first), L.Lambda(lambda h: tf.sin(20 * h))]
    layers += [L.Dense(48, kernel_initializer=inner), L.Lambda(lambda h: tf.sin(20 * h)), L.Dense(1)]
    model = keras.Sequential([keras.Input((1,)), *layers])
    fit(log, model, t, np.sin(20 * t) * np.exp(-t), loss="mse", optimizer=adam(1e-3), batch=128)


@healthy()
def soft_mixture_of_experts(log):
    inputs = keras.Input((64,))
    gate = L.Dense(4, "softmax")(inputs)
    experts = [L.Dense(10)(L.Dense(24, "relu")(inputs)) for _ in range(4)]
    mixed = L.Lambda(lambda p: tf.einsum("be,beo->bo", p[0], tf.stack(p[1:], 1)))([gate, *experts])
    fit(log, keras.Model(inputs, mixed), *digits(), optimizer=adam(2e-3))


@healthy()
def poisson_counts(log):
    x, y = table()
    counts = np.random.default_rng(3).poisson(np.exp(y + 1.0)).astype("float32")
    model = mlp(32, 32, outputs=1, inputs=8)
    model.add(L.Activation("exponential"))
    fit(log, model, x, counts, loss=lambda t, o: o - t * tf.math.log(o + 1e-6) + 4.0, optimizer=adam(2e-3), steps=500)


@healthy()
def warm_restarts(log):
    rate = keras.optimizers.schedules.CosineDecayRestarts(0.1, 100, t_mul=1.5)
    fit(log, mlp(64, 64), *digits(), optimizer=sgd(rate, 0.9), steps=500)
