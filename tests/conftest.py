"""For all tests: quiet TensorFlow, and the TensorFlow backend of Keras whatever the machine's own settings say."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["KERAS_BACKEND"] = "tensorflow"
