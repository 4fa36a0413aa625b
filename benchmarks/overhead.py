"""What recording costs: step times of one training with different monitors, in one process, taking turns.

    python benchmarks/overhead.py                                   # the small GRU, custom loop and fit
    python benchmarks/overhead.py --models transformer resnet embedding gru --xla both

Models: a transformer (over 100 variables, over 5 M parameters), ResNet50 at 64 x 64, a GRU whose step takes a few
milliseconds, and a large embedding with sparse gradients. Monitors: none, this project (default and every=1),
tf.summary.scalar of each gradient's norm, tf.summary.histogram of each gradient, tf.debugging.enable_check_numerics,
and Debugger V2 in FULL_HEALTH mode (custom loop without XLA: elsewhere they fail or fall silent). Prints the median
step time of each and its ratio to no monitor, and how often the host read the device while we recorded.
"""

import argparse
import os
import sys
import tempfile
import time

sys.path.pop(0)  # beside this file lies a `statistics.py` of our own
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

import tb_gradhealth
from tb_gradhealth.record.ring import Ring
from tb_gradhealth.record.watch import unwatch

reads = [0]
_read = Ring.read


def _counted(ring):
    reads[0] += 1
    return _read(ring)


Ring.read = _counted


def transformer():
    """12 blocks of width 192: 5.6 M parameters in 149 variables."""
    tokens = keras.Input((64,), dtype="int32")
    x = keras.layers.Embedding(1000, 192)(tokens)
    for _ in range(12):
        y = keras.layers.LayerNormalization()(x)
        x = x + keras.layers.MultiHeadAttention(4, 48)(y, y)
        y = keras.layers.LayerNormalization()(x)
        x = x + keras.layers.Dense(192)(keras.layers.Dense(768, activation="gelu")(y))
    model = keras.Model(tokens, keras.layers.Dense(1000)(x))
    data = np.random.default_rng(0).integers(0, 1000, (8, 64))
    return model, data, data, keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def resnet():
    model = keras.applications.ResNet50(weights=None, input_shape=(64, 64, 3), classes=10)
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(8, 64, 64, 3)).astype("float32"), generator.integers(0, 10, 8)
    return model, x, y, keras.losses.SparseCategoricalCrossentropy()


def gru():
    """A few milliseconds a step on two cores."""
    tokens = keras.Input((16,), dtype="int32")
    x = keras.layers.GRU(64, return_sequences=True)(keras.layers.Embedding(100, 32)(tokens))
    model = keras.Model(tokens, keras.layers.Dense(100)(keras.layers.GRU(64)(x)))
    generator = np.random.default_rng(0)
    data, y = generator.integers(0, 100, (16, 16)), generator.integers(0, 100, 16)
    return model, data, y, keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def embedding():
    """200,000 x 64 in the table, 8,192 sparse rows a step."""
    tokens = keras.Input((128,), dtype="int32")
    x = keras.layers.GlobalAveragePooling1D()(keras.layers.Embedding(200_000, 64)(tokens))
    model = keras.Model(tokens, keras.layers.Dense(1)(keras.layers.Dense(64, activation="relu")(x)))
    generator = np.random.default_rng(0)
    data = generator.integers(0, 200_000, (64, 128))
    return model, data, generator.normal(size=(64, 1)).astype("float32"), keras.losses.MeanSquaredError()


MODELS = {"transformer": transformer, "resnet": resnet, "gru": gru, "embedding": embedding}


class Custom:
    """A custom loop: one compiled step."""

    def __init__(self, make, monitor, jit, directory):
        keras.utils.set_random_seed(0)
        model, x, y, loss_of = make()
        optimizer = keras.optimizers.SGD(1e-3)
        self._directory = directory
        if monitor.startswith("gradhealth"):
            every = 1 if monitor.endswith("every=1") else "auto"
            tb_gradhealth.watch(optimizer, directory, every=every)
        self._optimizer = optimizer
        x, y = tf.constant(x), tf.constant(y)
        writer = tf.summary.create_file_writer(directory) if monitor.startswith("summary") else None
        count = tf.Variable(0, dtype=tf.int64)

        def step():
            with tf.GradientTape() as tape:
                loss = loss_of(y, model(x, training=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            if writer is not None:
                with writer.as_default(step=count.assign_add(1)):
                    summarise(monitor, gradients, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        self._step = tf.function(step, jit_compile=jit, autograph=False)
        if monitor == "check_numerics":
            tf.debugging.enable_check_numerics()
        elif monitor == "debugger FULL_HEALTH":
            tf.debugging.experimental.enable_dump_debug_info(directory, "FULL_HEALTH", 1000)
        self._step()
        if monitor == "check_numerics":
            tf.debugging.disable_check_numerics()

    def run(self, steps):
        begin = time.perf_counter()
        for _ in range(steps):
            loss = self._step()
        loss.numpy()
        return (time.perf_counter() - begin) / steps

    def close(self):
        unwatch(self._optimizer)


class Fit:
    """`model.fit`, one epoch a turn."""

    def __init__(self, make, monitor, jit, directory):
        keras.utils.set_random_seed(0)
        self._model, x, y, loss = make()
        self._model.compile(keras.optimizers.SGD(1e-3), loss, jit_compile=jit)
        self._data = tf.data.Dataset.from_tensors((x, y)).repeat()
        every = 1 if monitor.endswith("every=1") else "auto"
        ours = monitor.startswith("gradhealth")
        self._callbacks = [tb_gradhealth.GradHealthCallback(directory, every=every)] if ours else []
        self.run(2)

    def run(self, steps):
        times = _Times()
        callbacks = [*self._callbacks, times]
        self._model.fit(self._data, steps_per_epoch=steps, epochs=1, verbose=0, callbacks=callbacks)
        return times.seconds / steps

    def close(self):
        return None


class _Times(keras.callbacks.Callback):
    """The time of an epoch's steps, without what `fit` does before and after them."""

    def on_epoch_begin(self, epoch, logs=None):
        self._begin = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        self.seconds = time.perf_counter() - self._begin


def summarise(monitor, gradients, variables):
    for gradient, variable in zip(gradients, variables, strict=True):
        values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
        if monitor.endswith("scalar"):
            tf.summary.scalar(variable.path, tf.norm(values))
        else:
            tf.summary.histogram(variable.path, values)


OURS = ["none", "gradhealth", "gradhealth every=1"]
PEERS = ["summary scalar", "summary histogram", "check_numerics", "debugger FULL_HEALTH"]


def compare(model, loop, jit, steps, turns, peers):
    """Prints one table."""
    monitors = OURS + (PEERS if peers and loop == "custom" and not jit else [])
    make = MODELS[model]
    with tempfile.TemporaryDirectory() as directory:
        kind = Custom if loop == "custom" else Fit
        entries, times, read = {}, {}, {}
        for monitor in monitors:
            entries[monitor] = kind(make, monitor, jit, os.path.join(directory, monitor.replace(" ", "_")))
            times[monitor], read[monitor] = [], 0
        for entry in entries.values():
            entry.run(steps)
        for turn in range(turns):
            for monitor in monitors if turn % 2 else reversed(monitors):
                before = reads[0]
                times[monitor].append(entries[monitor].run(steps))
                read[monitor] += reads[0] - before
        for entry in entries.values():
            entry.close()
    base = times["none"]
    print(f"\n{model}, {loop}, {'XLA' if jit else 'no XLA'}: {turns} turns of {steps} steps")
    print(f"{'':24}{'ms a step':>10}{'min':>9}{'ratio':>8}{'device reads a step':>22}")
    for monitor in monitors:
        ratios = [a / b for a, b in zip(times[monitor], base, strict=True)]
        own = read[monitor] / (turns * steps)
        print(
            f"{monitor:24}{np.median(times[monitor]) * 1e3:10.2f}{min(times[monitor]) * 1e3:9.2f}"
            f"{np.median(ratios):8.3f}{own:22.3f}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=["gru"])
    parser.add_argument("--loops", nargs="+", choices=["custom", "fit"], default=["custom", "fit"])
    parser.add_argument("--xla", choices=["no", "yes", "both"], default="no")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    jits = {"no": [False], "yes": [True], "both": [False, True]}[options.xla]
    for model in options.models:
        for loop in options.loops:
            for jit in jits:
                compare(model, loop, jit, options.steps, options.turns, not options.no_peers)


if __name__ == "__main__":
    main()
