"""`watch`: one line for a custom loop."""

import time

import numpy as np
import pytest
import tensorflow as tf
from training import keras_of, only_group

import tb_gradhealth
from tb_gradhealth.format.states import State
from tb_gradhealth.record.watch import unwatch

KERAS = ["keras", "tf_keras"]


@pytest.mark.parametrize("mode", ["eager", "graph", "xla"])
@pytest.mark.parametrize("name", KERAS)
def test_every_step_is_recorded_and_training_is_the_same(tmp_path, name, mode):
    keras = keras_of(name)

    def train(log_dir):
        optimizer = keras.optimizers.Adam(0.1)
        if log_dir is not None:
            assert tb_gradhealth.watch(optimizer, log_dir, explain=False) is optimizer
        variable = tf.Variable([1.0, 2.0], name="w")

        def step():
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(variable - 3.0))
            optimizer.apply_gradients(zip(tape.gradient(loss, [variable]), [variable], strict=True))
            return loss

        if mode != "eager":
            step = tf.function(step, jit_compile=mode == "xla")
        losses = []
        for _ in range(10):
            losses.append(step().numpy())
            if log_dir is not None:
                time.sleep(0.01)
        if log_dir is not None:
            unwatch(optimizer)
        assert not {"apply", "apply_gradients"} & set(vars(optimizer))
        return losses

    assert train(tmp_path) == train(None)
    group = only_group(tmp_path)
    assert group.windows.steps.sum() == 10 and group.windows.last_step[-1] == 9
    np.testing.assert_allclose(np.nanmax(group.windows.norm_max), np.sqrt(16 + 4), rtol=1e-6)
    assert group.schema.hooked == "watch" and group.schema.optimizer == "Adam"


def test_watching_again_ends_the_former_watch(tmp_path):
    keras = keras_of("keras")
    optimizer = keras.optimizers.SGD(0.1)
    variable = tf.Variable(1.0)
    for cell in range(2):
        tb_gradhealth.watch(optimizer, tmp_path / str(cell), explain=False)
        for _ in range(3):
            optimizer.apply_gradients([(tf.constant(1.0), variable)])
    unwatch(optimizer)
    assert only_group(tmp_path / "0").windows.first_step.tolist() == [0, 1, 2]
    assert only_group(tmp_path / "1").windows.first_step.tolist() == [3, 4, 5]


@pytest.mark.parametrize("name", KERAS)
def test_all_none_is_on_disk_before_the_optimizer_raises(tmp_path, name):
    keras = keras_of(name)
    optimizer = tb_gradhealth.watch(keras.optimizers.SGD(0.1), tmp_path, explain=False)
    with pytest.raises(ValueError, match="No gradients provided"):
        optimizer.apply_gradients([(None, tf.Variable(1.0))])
    assert only_group(tmp_path).windows.state_last.tolist() == [[State.NONE]]
    unwatch(optimizer)


@pytest.mark.parametrize("name", KERAS)
def test_skip_withholds_the_bad_update_only(tmp_path, name):
    keras = keras_of(name)
    optimizer = tb_gradhealth.watch(keras.optimizers.SGD(1.0), tmp_path, on_nonfinite="skip", explain=False)
    variable = tf.Variable([1.0, 1.0])

    @tf.function
    def step(gradient):
        optimizer.apply_gradients([(gradient, variable)])

    values = []
    for gradient in ([1.0, 0.0], [float("nan"), 1.0], [0.0, 1.0]):
        step(tf.constant(gradient))
        values.append(variable.numpy().tolist())
    unwatch(optimizer)
    assert values == [[0.0, 1.0], [0.0, 1.0], [0.0, 0.0]]
    windows = only_group(tmp_path).windows
    assert windows.skipped_steps.sum() == 1 and windows.nan_steps.sum() == 1


def test_what_is_no_optimizer_is_refused(tmp_path):
    with pytest.raises(TypeError, match=r"takes an optimizer. Received: 'adam' .*watch\(keras.optimizers.Adam"):
        tb_gradhealth.watch("adam", tmp_path)
    with pytest.raises(TypeError, match=r"TensorFlow 1.*v1.GradHealthHook"):
        tb_gradhealth.watch(tf.compat.v1.train.GradientDescentOptimizer(0.1), tmp_path)
    with pytest.raises(ValueError, match=r'must be "record", "skip" or "stop". Received: on_nonfinite=.halt'):
        tb_gradhealth.watch(keras_of("keras").optimizers.SGD(0.1), tmp_path, on_nonfinite="halt")
