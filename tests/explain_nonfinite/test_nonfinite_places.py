"""The line is found where TensorFlow itself does not tell it: in loops, in replicas; sentences read as sentences."""

import inspect
import subprocess
import sys
import textwrap

import pytest

tf = pytest.importorskip("tensorflow")

from tb_gradhealth.explain.nonfinite import explain_step, words  # noqa: E402


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, line in enumerate(lines) if text in line)


def entropy(p):
    return -tf.reduce_sum(p * tf.math.log(p))


def test_a_derivative_inside_the_loop_of_a_function_called_eagerly():
    w = tf.Variable([[0.5, 0.5], [1.0, 0.0]], name="w")

    @tf.function
    def total(p):
        return tf.reduce_mean(tf.map_fn(entropy, p))

    def step():
        with tf.GradientTape() as tape:
            loss = total(w * 1.0)
        return tape.gradient(loss, [w])

    cause = explain_step(step)[0]
    assert (cause.op, cause.line, cause.certainty) == ("Log", line_of(entropy, "tf.math.log"), "certain")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the loss was NaN", "The loss was NaN"),
        ("x: 1 of 4 values are not finite", "x: 1 of 4 values are not finite"),
        ("dense/kernel grew", "dense/kernel grew"),
        ("exp(x) is large", "exp(x) is large"),
        ("3 of 4 inputs were 0", "3 of 4 inputs were 0"),
    ],
)
def test_a_sentence_has_a_capital_letter_and_a_name_keeps_its_own(text, expected):
    assert words.sentence(text) == expected


REPLICAS = """
    import sys, tempfile
    import tensorflow as tf
    import tb_gradhealth
    from tb_gradhealth.format.reader import find_runs, read_run

    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        w = tf.Variable([[0.5]], name="w")

    @tf.function
    def train_step(known):
        def replica_step(known):
            with tf.GradientTape() as tape:
                if tf.reduce_sum(known) < -1.0:
                    known = -known
                loss = tf.reduce_sum(w) / tf.reduce_sum(known)
            return tf.distribute.get_replica_context().all_reduce("mean", tape.gradient(loss, [w]))

        return strategy.run(replica_step, args=(known,))

    data = tf.data.Dataset.from_tensor_slices([1.0, 0.0]).batch(2)
    folder = tempfile.mkdtemp()
    with tb_gradhealth.GradHealthWriter(folder) as writer:
        for batch in strategy.experimental_distribute_dataset(data):
            gradients = train_step(batch)
            writer.record([strategy.experimental_local_results(g)[0] for g in gradients], [w])
    (run,) = find_runs(folder)
    cause = read_run(f"{folder}/{run}").causes[0]
    print("FOUND", cause.op, cause.replica, cause.code)
"""


def test_a_replica_function_inside_a_tf_function_has_its_line_and_its_replica(tmp_path):
    script = tmp_path / "replicas.py"
    script.write_text(textwrap.dedent(REPLICAS))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=240, check=False)
    assert "FOUND RealDiv 1 loss = tf.reduce_sum(w) / tf.reduce_sum(known)" in done.stdout, done.stderr[-2000:]
