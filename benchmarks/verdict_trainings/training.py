"""How the trainings train: Keras's `fit` over a repeated data set, a fixed number of steps."""

import keras
import tensorflow as tf

L = keras.layers
CROSSENTROPY = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def batches(x, y, batch, steps):
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(4096, seed=7).repeat()
    return data.batch(batch, drop_remainder=True).take(steps)


def fit(
    log,
    model,
    x,
    y,
    *,
    steps=400,
    batch=32,
    optimizer=None,
    loss=CROSSENTROPY,
    callbacks=(),
    data=None,
    callback=None,
    **options,
):
    """Trains and records. `data` replaces the batches of (x, y); `options` go to the callback."""
    optimizer = keras.optimizers.Adam(1e-3) if optimizer is None else optimizer
    model.compile(optimizer, loss, jit_compile=False)
    data = batches(x, y, batch, steps) if data is None else data
    callback = callback or log.callback(**options)
    model.fit(data.prefetch(2), epochs=1, verbose=0, callbacks=[*callbacks, callback])
    return model


def mlp(*units, activation="relu", outputs=10, inputs=64, init="glorot_uniform", norm=None, **dense):
    layers = [keras.Input((inputs,))]
    for n in units:
        layers.append(L.Dense(n, kernel_initializer=init, **dense))
        if norm is not None:
            layers.append(norm())
        layers.append(L.Activation(activation))
    return keras.Sequential([*layers, L.Dense(outputs)])


def sgd(rate, momentum=0.0, **more):
    return keras.optimizers.SGD(rate, momentum=momentum, **more)


def adam(rate=1e-3, **more):
    return keras.optimizers.Adam(rate, **more)


def normal(std):
    return keras.initializers.RandomNormal(stddev=std, seed=3)
