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
    x = np.arange(8, dtype="float32").reshape(4, 2)
    known = np.array([[1.0], [0.0], [0.0], [0.0]], "float32")  # the second half has no label at all
    data = tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True), known)).batch(4)

    @tf.function
    def train_step(batch):
        def replica_step(x, y, known):
            with tf.GradientTape() as tape:
                squared = tf.square(tf.matmul(x, w) - y) * known
                loss = tf.reduce_sum(squared) / tf.reduce_sum(known)
            return tf.distribute.get_replica_context().all_reduce("mean", tape.gradient(loss, [w]))

        return strategy.run(replica_step, args=batch)

    return {"strategy": strategy, "variables": [w], "train_step": train_step,
            "batches": list(strategy.experimental_distribute_dataset(data))}


def step(state):
    grads = state["train_step"](state["batches"][0])
    return [state["strategy"].experimental_local_results(g)[0] for g in grads], state["variables"]


# ---- answers ----
TITLE = "Two replicas, partial labels: the second replica's share has none"
KIND = "nan"
MODE = "function"
EXPECT = {"w": "nan"}
CAUSE = "The sum of the mask is 0 on replica 1: 0 / 0; the all-reduce spreads it."
CAUSE_LINE = "loss = tf.reduce_sum(squared) / tf.reduce_sum(known)"
CAUSE_OP = "RealDiv"
REASONS = ["division_by_zero", "derivative_of_division_at_zero"]
FIX = [("/ tf.reduce_sum(known)", "/ tf.maximum(tf.reduce_sum(known), 1.0)")]
