import keras
import tensorflow as tf


@keras.saving.register_keras_serializable()
class Quantise(keras.layers.Layer):
    """Eight levels."""

    def call(self, x):
        scaled = x * 8.0
        level = tf.math.floor(scaled)
        return level / 8.0
