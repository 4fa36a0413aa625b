import numpy as np
import tensorflow as tf


def build():
    cpus = tf.config.list_physical_devices("CPU")
    try:
        tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2)
    except RuntimeError:
        pass
    if len(tf.config.list_logical_devices("CPU")) < 2:
        raise RuntimeError("this program needs a process of its own (two logical CPUs)")
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        w = tf.Variable([[0.5], [0.2]], name="w")
        b = tf.Variable([0.1], name="b")
    rows = np.array([[1.0, 2.0], [2.0, 1.0], [0.5, 0.0], [3.0, 3.0]], "float32")
    target = rows.sum(1, keepdims=True)
    data = tf.data.Dataset.from_tensor_slices((rows, target)).batch(4)

    def replica_step(x, y):
        with tf.GradientTape() as tape:
            relative = (tf.matmul(x, w) + b - y) / x[:, 1:]
            loss = tf.reduce_mean(tf.square(relative))
        grads = tape.gradient(loss, [w, b])
        return tf.distribute.get_replica_context().all_reduce("sum", grads)

    @tf.function
    def train_step(batch):
        return strategy.run(replica_step, args=batch)

    return {"strategy": strategy, "variables": [w, b], "train_step": train_step,
            "batches": list(strategy.experimental_distribute_dataset(data))}


def step(state):
    grads = state["train_step"](state["batches"][0])
    return [state["strategy"].experimental_local_results(g)[0] for g in grads], state["variables"]


# ---- answers ----
TITLE = "Two replicas; the second divides by a zero in its half of the batch"
KIND = "nan"
MODE = "function"
EXPECT = {"w": "nan", "b": "inf"}
CAUSE = "The third row has 0 in its second column, which the relative error divides by; only replica 1 sees it."
CAUSE_LINE = "relative = (tf.matmul(x, w) + b - y) / x[:, 1:]"
CAUSE_OP = "RealDiv"
REASONS = ["division_by_zero", "derivative_of_division_at_zero"]
FIX = [("/ x[:, 1:]", "/ tf.maximum(x[:, 1:], 0.1)")]
