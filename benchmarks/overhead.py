"""What recording costs: step times of one training with different monitors, in one process, taking turns.

    python benchmarks/overhead.py                                        # everything: about 25 minutes
    python benchmarks/overhead.py --models gru --loops fit --xla no --seconds 40

Models: a transformer (over 100 variables, over 5 M parameters), ResNet50 at 64 x 64, a GRU whose step takes a few
milliseconds, and a large embedding with sparse gradients. Loops: one compiled step called in a Python loop, and `fit`
with epochs of `--epoch` steps. Monitors: none, this project (default and every=1), tf.summary.scalar of each gradient's
norm and tf.summary.histogram of each gradient; and, each in a process of its own where it takes turns with no monitor,
tf.debugging.enable_check_numerics and Debugger V2 in FULL_HEALTH mode. With XLA only ours: the others fail there, or
fall silent. Prints the median step time of each, its ratio to that of no monitor (of wall time and of the processor
time of the whole process, which other programs on the machine disturb less), and how often the host read the device.
`--seconds` is what each table may take, tracing aside.
"""

import argparse
import os
import subprocess
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

sys.path.append(os.path.dirname(os.path.abspath(__file__)))

from overhead_models import embedding, gru, resnet, transformer

MODELS = {"transformer": transformer, "resnet": resnet, "gru": gru, "embedding": embedding}
OURS = ["none", "gradhealth", "gradhealth every=1"]
SUMMARIES = ["summary scalar", "summary histogram"]
ALONE = ["check_numerics", "debugger FULL_HEALTH"]
"""These change how every function of the process is traced or run."""

TURNS = 10

reads = [0]
_transfer = Ring.transfer


def _counted(ring):
    reads[0] += 1
    return _transfer(ring)


Ring.transfer = _counted


class Training:
    """One model with one monitor."""

    def __init__(self, make, monitor, jit, directory, epoch):
        keras.utils.set_random_seed(0)
        self.monitor, self.directory, self.jit, self.epoch = monitor, directory, jit, epoch
        self.model, x, y, self.loss = make()
        self.optimizer = keras.optimizers.SGD(1e-3)
        self.x, self.y = tf.constant(x), tf.constant(y)
        self.every = 1 if monitor.endswith("every=1") else "auto"
        if monitor.startswith("summary"):
            summarise(self.optimizer, monitor, directory)
        begin_debugging(monitor, directory)
        self.prepare()
        self.run(2)
        if monitor == "check_numerics":
            tf.debugging.disable_check_numerics()

    @property
    def is_ours(self):
        return self.monitor.startswith("gradhealth")


class Custom(Training):
    """A custom loop: one compiled step."""

    def prepare(self):
        if self.is_ours:
            tb_gradhealth.watch(self.optimizer, self.directory, every=self.every)

        def step():
            with tf.GradientTape() as tape:
                loss = self.loss(self.y, self.model(self.x, training=True))
            variables = self.model.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return loss

        self.step = tf.function(step, jit_compile=self.jit, autograph=False)

    def run(self, steps):
        """Wall and processor seconds of a step."""
        clock = Clock()
        for _ in range(steps):
            loss = self.step()
        loss.numpy()
        return clock.seconds() / steps

    def close(self):
        unwatch(self.optimizer)


class Fit(Training):
    """`model.fit`: the time from its first epoch's begin to its last epoch's end."""

    def prepare(self):
        self.model.compile(self.optimizer, self.loss, jit_compile=self.jit)
        self.data = tf.data.Dataset.from_tensors((self.x, self.y)).repeat()
        self.callbacks = [tb_gradhealth.GradHealthCallback(self.directory, every=self.every)] if self.is_ours else []

    def run(self, steps):
        times = _Times()
        epochs = max(round(steps / self.epoch), 1)
        each = min(steps, self.epoch)
        callbacks = [*self.callbacks, times]
        self.model.fit(self.data, steps_per_epoch=each, epochs=epochs, verbose=0, callbacks=callbacks, shuffle=False)
        return times.passed / (epochs * each)

    def close(self):
        return None


class Clock:
    """Wall and processor time since it was made."""

    def __init__(self):
        self._begin = self._now()

    def _now(self):
        return np.array([time.perf_counter(), time.process_time()])

    def seconds(self):
        return self._now() - self._begin


class _Times(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 0:
            self._clock = Clock()

    def on_epoch_end(self, epoch, logs=None):
        self.passed = self._clock.seconds()


def summarise(optimizer, monitor, directory):
    """Has the optimizer write a summary of each gradient it is given."""
    writer = tf.summary.create_file_writer(directory)
    count = tf.Variable(0, dtype=tf.int64)
    apply = optimizer.apply

    def summarised(gradients, variables=None):
        gradients = list(gradients)
        with writer.as_default(step=count.assign_add(1)):
            for index, gradient in enumerate(gradients):
                values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
                if monitor.endswith("scalar"):
                    tf.summary.scalar(f"gradient_{index}", tf.norm(values))
                else:
                    tf.summary.histogram(f"gradient_{index}", values)
        return apply(gradients, variables)

    object.__setattr__(optimizer, "apply", summarised)


def begin_debugging(monitor, directory):
    if monitor == "check_numerics":
        tf.debugging.enable_check_numerics()
    elif monitor == "debugger FULL_HEALTH":
        tf.debugging.experimental.enable_dump_debug_info(directory, "FULL_HEALTH", 1000)


def compare(model, loop, jit, monitors, options):
    """Prints one table."""
    kind = Custom if loop == "custom" else Fit
    with tempfile.TemporaryDirectory() as directory:
        entries = {}
        for monitor in monitors:
            path = os.path.join(directory, monitor.replace(" ", "_"))
            entries[monitor] = kind(MODELS[model], monitor, jit, path, options.epoch)
        for entry in entries.values():
            entry.run(max(options.warm, 3))
        mean = np.mean([entry.run(3)[0] for entry in entries.values()])
        steps = max(int(options.seconds / TURNS / len(monitors) / mean), 2)
        if loop == "fit" and steps > options.epoch:
            steps -= steps % options.epoch
        times, read = {monitor: [] for monitor in monitors}, dict.fromkeys(monitors, 0)
        for turn in range(TURNS):
            for monitor in monitors if turn % 2 else reversed(monitors):
                before = reads[0]
                times[monitor].append(entries[monitor].run(steps))
                read[monitor] += reads[0] - before
        for entry in entries.values():
            entry.close()
    base = np.median(times["none"], axis=0)
    print(f"\n{model}, {loop}, {'XLA' if jit else 'no XLA'}: {TURNS} turns of {steps} steps", flush=True)
    print(f"{'':24}{'ms a step':>10}{'min':>9}{'ratio':>8}{'processor':>11}{'device reads a step':>22}")
    for monitor in monitors:
        middle, least = np.median(times[monitor], axis=0), np.min(times[monitor], axis=0)
        wall, processor = middle / base
        own = read[monitor] / (TURNS * steps)
        print(
            f"{monitor:24}{middle[0] * 1e3:10.2f}{least[0] * 1e3:9.2f}{wall:8.3f}{processor:11.3f}{own:22.3f}",
            flush=True,
        )


def compare_alone(model, loop, monitor, options):
    """The same in a process of its own, which may fail without ending this one."""
    own = ["--models", model, "--loops", loop, "--xla", "no", "--monitors", "none", monitor]
    shared = ["--seconds", str(options.seconds / 2), "--epoch", str(options.epoch), "--warm", str(options.warm)]
    limit = options.seconds * 4 + 240
    try:
        ended = subprocess.run(
            [sys.executable, __file__, *own, *shared], timeout=options.seconds * 4 + 240, check=False
        )
        if ended.returncode:
            print(f"{model}, {loop}: {monitor} ended its process with {ended.returncode}", flush=True)
    except subprocess.TimeoutExpired:
        print(f"{model}, {loop}: {monitor} took more than {limit:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--loops", nargs="+", choices=["custom", "fit"], default=["custom", "fit"])
    parser.add_argument("--xla", choices=["no", "yes", "both"], default="both")
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--warm", type=int, default=0, help="steps before the clock starts; 600: records are wider")
    parser.add_argument("--epoch", type=int, default=20, help="steps of an epoch in fit")
    parser.add_argument("--monitors", nargs="+", choices=OURS + SUMMARIES + ALONE, default=None)
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    for model in options.models:
        for loop in options.loops:
            for jit in {"no": [False], "yes": [True], "both": [False, True]}[options.xla]:
                peers = not (options.no_peers or jit or options.monitors)
                compare(model, loop, jit, options.monitors or OURS + (SUMMARIES if peers else []), options)
                for monitor in ALONE if peers else ():
                    compare_alone(model, loop, monitor, options)


if __name__ == "__main__":
    main()
