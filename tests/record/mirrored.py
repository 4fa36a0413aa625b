"""Trains on two replicas in a process of its own: two logical CPUs. Prints losses and weights as JSON.

python mirrored.py LOG_DIR KERAS WAY      # WAY: fit, skip or loop; LOG_DIR "-" records nothing
"""

import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf


def main(log_dir, keras_name, way):
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    keras = __import__(keras_name)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    keras.utils.set_random_seed(1)
    with strategy.scope():
        model = keras.Sequential(
            [keras.layers.Input((4,)), keras.layers.Dense(3, name="a"), keras.layers.Dense(1, name="b")]
        )
        model.compile(keras.optimizers.SGD(0.01), "mse")
    x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
    y = x.sum(axis=1, keepdims=True)
    if way == "skip":
        x[16 + 5] = np.nan  # step 2 of batches of 8: the second half of a batch is replica 1's
    callbacks = []
    if log_dir != "-":
        import tb_gradhealth

        policy = "skip" if way == "skip" else "record"
        callbacks = [tb_gradhealth.GradHealthCallback(log_dir, on_nonfinite=policy, explain=False)]
    history = model.fit(x, y, batch_size=8, epochs=1, verbose=0, shuffle=False, callbacks=callbacks)
    weights = [np.asarray(w).tolist() for w in model.get_weights()]
    print("@@" + json.dumps({"loss": history.history["loss"], "weights": weights}))


if __name__ == "__main__":
    main(*sys.argv[1:])
