import keras
import tensorflow as tf


class Encoder(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.proj = keras.layers.Dense(units, activation="tanh", name="proj")

    def call(self, x):
        centred = x - tf.reduce_mean(x, axis=-1, keepdims=True)
        return self.proj(self.normed(x, centred))

    def normed(self, x, centred):
        return centred / tf.math.reduce_std(x, axis=-1, keepdims=True)
