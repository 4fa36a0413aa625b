"""What the healthy trainings share: their list, and loops that record through the product."""

from collections.abc import Callable

import keras
import tensorflow as tf

import tb_gradhealth

STEPS = 6
TRAININGS: dict[str, Callable[[str], None]] = {}


def training(function: Callable[[str], None]) -> Callable[[str], None]:
    TRAININGS[function.__name__] = function
    return function


def noise(*shape: int, seed: int = 1) -> tf.Tensor:
    return tf.random.stateless_normal(shape, [seed, 7])


def loop(directory: str, variables: list, loss: Callable[[], tf.Tensor], compiled: bool = True) -> None:
    """A custom loop on one loss."""
    optimizer = keras.optimizers.Adam(1e-3)

    def gradients():
        with tf.GradientTape() as tape:
            value = loss()
        return value, tape.gradient(value, variables)

    step = tf.function(gradients) if compiled else gradients
    with tb_gradhealth.GradHealthWriter(directory) as writer:
        for _ in range(STEPS):
            value, found = step()
            writer.record(found, variables, loss=value)
            optimizer.apply(found, variables)


def fit(directory: str, model: keras.Model, x, y, loss="mse", **more) -> None:
    model.compile(keras.optimizers.Adam(1e-3), loss, **more)
    callback = tb_gradhealth.GradHealthCallback(directory)
    model.fit(x, y, batch_size=16, epochs=2, verbose=0, callbacks=[callback])


def dense(*units: int, activation="tanh", inputs: int = 4) -> keras.Sequential:
    layers = [keras.layers.Dense(n, activation=activation) for n in units[:-1]]
    return keras.Sequential([keras.Input((inputs,)), *layers, keras.layers.Dense(units[-1])])
