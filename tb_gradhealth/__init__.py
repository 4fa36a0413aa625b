"""Gradient health for TensorFlow and Keras, in TensorBoard."""

__version__ = "0.1.0"
