import tensorflow as tf


def length(x):
    return tf.sqrt(tf.reduce_sum(tf.square(x), axis=-1))


def cosine(a, b):
    dot = tf.reduce_sum(a * b, axis=-1)
    norm_a, norm_b = length(a), length(b)
    return dot / (norm_a * norm_b)
