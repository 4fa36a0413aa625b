import tensorflow as tf


def choose_expert(scores):
    best = tf.math.argmax(scores, axis=-1)
    return tf.one_hot(best, scores.shape[-1])
