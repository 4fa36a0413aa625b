"""What is stored and how: messages, tags, states, windows, the writer of events and the reader of runs.

Knows TensorBoard's event files and NumPy; never TensorFlow, never Keras.
"""
