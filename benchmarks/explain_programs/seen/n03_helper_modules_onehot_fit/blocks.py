import keras
import tensorflow as tf
from routing import choose_expert


class Expert(keras.layers.Layer):
    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.inner = keras.layers.Dense(units, activation="tanh", name="inner")

    def call(self, x):
        return self.inner(x)


class Mixture(keras.layers.Layer):
    def __init__(self, experts, units, **kw):
        super().__init__(**kw)
        self.router = keras.layers.Dense(experts, name="router")
        self.experts = [Expert(units, name=f"expert_{i}") for i in range(experts)]

    def call(self, x):
        scores = self.router(x)
        weight = choose_expert(scores)
        answers = tf.stack([e(x) for e in self.experts], 1)
        return tf.reduce_sum(weight[..., None] * answers, 1)
