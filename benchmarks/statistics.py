"""What the statistics alone cost, against one read of the same bytes.

    python benchmarks/statistics.py              # 192 gradients, 38 M elements
    python benchmarks/statistics.py --small      # the same with 1 M elements

Prints milliseconds (median and minimum of interleaved rounds) and the ratio to one read: `tf.nn.l2_loss` of one flat
tensor of all elements.
"""

import os
import sys

sys.path.pop(0)  # this file bears the name of a standard module that TensorFlow needs
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import argparse
import statistics
import time

import tensorflow as tf

from tb_gradhealth.record.statistics import measure


def gradients_of(small):
    """Shapes of a transformer: 192 gradients."""
    wide = 64 if small else 412
    shapes = []
    for _ in range(12):
        shapes += [(wide, wide)] * 4 + [(wide, 4 * wide), (4 * wide, wide)] + [(wide,)] * 8 + [(4 * wide,)] * 2
    shapes = shapes[:191] + [(8 * wide, wide)] * (192 - len(shapes[:191]))
    return [tf.random.normal(shape) for shape in shapes]


def rounds(functions, count):
    """Seconds of each call, the functions taking turns."""
    times = {name: [] for name in functions}
    for function in functions.values():
        function()
        function()
    for _ in range(count):
        for name, function in functions.items():
            begin = time.perf_counter()
            function()
            times[name].append(time.perf_counter() - begin)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--rounds", type=int, default=50)
    options = parser.parse_args()
    gradients = gradients_of(options.small)
    flat = tf.concat([tf.reshape(gradient, [-1]) for gradient in gradients], 0)
    functions = {}
    for jit in (False, True):
        label = "XLA" if jit else "graph"

        def compiled(function, jit=jit):
            return tf.function(function, jit_compile=jit, autograph=False)

        read = compiled(lambda: tf.nn.l2_loss(flat))
        each = compiled(lambda: tf.stack([tf.nn.l2_loss(gradient) for gradient in gradients]))
        ours = compiled(lambda: measure(gradients).norm)
        functions |= {
            f"one read, {label}": lambda read=read: read().numpy(),
            f"one l2_loss per gradient, {label}": lambda each=each: each().numpy(),
            f"measure, {label}": lambda ours=ours: ours().numpy(),
        }
    times = rounds(functions, options.rounds)
    base = statistics.median(times["one read, graph"])
    size = int(tf.size(flat))
    print(f"{len(gradients)} gradients, {size / 1e6:.1f} M elements, {options.rounds} rounds")
    print(f"{'':36}{'median ms':>10}{'min ms':>10}{'ratio':>8}")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:36}{median * 1e3:10.2f}{min(values) * 1e3:10.2f}{median / base:8.2f}")


if __name__ == "__main__":
    main()
