"""Small trainings for the tests of recording, with either Keras."""

import os

import numpy as np

from tb_gradhealth.format.reader import read_run


def keras_of(name):
    """The Keras of that name: "keras" or "tf_keras"."""
    return __import__(name)


def data(rows=64):
    x = np.random.default_rng(0).normal(size=(rows, 4)).astype("float32")
    return x, x.sum(axis=1, keepdims=True)


def mlp(keras, optimizer=None, seed=1, **compile_options):
    """A compiled model of two dense layers."""
    keras.utils.set_random_seed(seed)
    model = keras.Sequential(
        [
            keras.layers.Input((4,)),
            keras.layers.Dense(5, activation="tanh", name="hidden"),
            keras.layers.Dense(1, name="out"),
        ],
        name="mlp",
    )
    model.compile(optimizer or keras.optimizers.Adam(0.01), "mse", **compile_options)
    return model


def fit(model, callbacks=(), epochs=2, rows=64, batch_size=8, **options):
    """Trains and returns the loss of each epoch."""
    x, y = data(rows)
    history = model.fit(x, y, batch_size=batch_size, epochs=epochs, verbose=0, callbacks=list(callbacks), **options)
    return history.history["loss"]


def read(log_dir):
    """The run recorded below a log directory."""
    return read_run(os.path.join(str(log_dir), "gradhealth"))


def only_group(log_dir):
    """The one group of a run."""
    (group,) = read(log_dir).groups.values()
    return group


def names_of(group):
    return [variable.name for variable in group.schema.variables]
