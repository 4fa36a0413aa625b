"""`GradHealthCallback` with models and optimizers of many kinds: roles, groups, clipping, precision, accumulation."""

import numpy as np
import pytest
import tensorflow as tf
from training import fit, keras_of, mlp, names_of, only_group, read

import tb_gradhealth
from tb_gradhealth.format.states import State

KERAS = ["keras", "tf_keras"]


def callback(log_dir, **options):
    return tb_gradhealth.GradHealthCallback(str(log_dir), **options)


def test_frozen_layers_are_told_apart_and_may_be_unfrozen(tmp_path):
    keras = keras_of("keras")
    model, recording = mlp(keras), callback(tmp_path)
    model.get_layer("hidden").trainable = False
    model.compile("sgd", "mse")
    fit(model, [recording], epochs=1)
    roles = {v.name.split("/", 1)[1]: v.role for v in only_group(tmp_path).schema.variables}
    assert roles == {"out/kernel": 0, "out/bias": 0, "hidden/kernel": 1, "hidden/bias": 1}
    model.get_layer("hidden").trainable = True
    model.compile("sgd", "mse")
    fit(model, [recording], epochs=1)
    group = only_group(tmp_path)
    assert {v.role for v in group.schema.variables} == {0}
    assert group.windows.steps.sum() == 16
    at = names_of(group).index("mlp/hidden/kernel")
    assert group.windows.state_last[:8, at].tolist() == [State.NOT_RECORDED] * 8
    assert group.windows.state_last[8:, at].tolist() == [State.FINITE] * 8


def test_two_optimizers_are_two_groups(tmp_path):
    keras = keras_of("keras")

    class Gan(keras.Model):
        def __init__(self):
            super().__init__()
            self.maker, self.judge = keras.layers.Dense(4, name="maker"), keras.layers.Dense(1, name="judge")
            self.maker.build((None, 4))
            self.judge.build((None, 4))

        def compile(self, maker_optimizer, judge_optimizer):
            super().compile()
            self.maker_optimizer, self.judge_optimizer = maker_optimizer, judge_optimizer

        def train_step(self, batch):
            x, _ = batch
            with tf.GradientTape(persistent=True) as tape:
                score = tf.reduce_mean(self.judge(self.maker(x)))
                judged = score - tf.reduce_mean(self.judge(x))
                made = -score
            for optimizer, loss, part in (
                (self.judge_optimizer, judged, self.judge),
                (self.maker_optimizer, made, self.maker),
            ):
                gradients = tape.gradient(loss, part.trainable_variables)
                optimizer.apply_gradients(zip(gradients, part.trainable_variables, strict=True))
            return {"loss": score}

    model = Gan()
    model.compile(keras.optimizers.Adam(), keras.optimizers.Adam())
    fit(model, [callback(tmp_path)], epochs=1)
    groups = read(tmp_path).groups
    assert sorted(groups) == ["judge_optimizer", "maker_optimizer"]
    assert names_of(groups["maker_optimizer"]) == ["maker/kernel", "maker/bias"]
    assert all(group.windows.steps.sum() == 8 for group in groups.values())
    assert {v.role for group in groups.values() for v in group.schema.variables} == {0}


def test_a_variable_that_no_optimizer_is_given(tmp_path):
    keras = keras_of("keras")

    class Forgetful(keras.Model):
        def __init__(self):
            super().__init__()
            self.a, self.b = keras.layers.Dense(4, name="a"), keras.layers.Dense(1, name="b")
            self.a.build((None, 4))
            self.b.build((None, 4))

        def train_step(self, batch):
            x, y = batch
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self.b(self.a(x)) - y))
            gradients = tape.gradient(loss, self.b.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.b.trainable_variables, strict=True))
            return {"loss": loss}

    model = Forgetful()
    model.compile("sgd")
    fit(model, [callback(tmp_path)], epochs=1)
    roles = {v.name: v.role for v in only_group(tmp_path).schema.variables}
    assert roles == {"b/kernel": 0, "b/bias": 0, "a/kernel": 2, "a/bias": 2}


@pytest.mark.parametrize("name", KERAS)
def test_norms_are_taken_before_clipping(tmp_path, name):
    keras = keras_of(name)
    model = mlp(keras, keras.optimizers.SGD(0.01, global_clipnorm=0.5))
    fit(model, [callback(tmp_path)], epochs=1)
    group = only_group(tmp_path)
    assert group.schema.global_clip_norm == pytest.approx(0.5)
    assert group.windows.global_norm.max() > 0.5
    assert group.windows.clipped_steps.sum() == (group.windows.global_norm > 0.5).sum()


@pytest.mark.parametrize("name", KERAS)
def test_an_overflow_that_the_loss_scaler_handles_is_told_as_such(tmp_path, name):
    keras = keras_of(name)
    make = keras.mixed_precision.LossScaleOptimizer
    model, reference = (
        mlp(keras, make(keras.optimizers.SGD(1e-4), initial_scale=2.0**127), loss_weights=[100.0]) for _ in range(2)
    )
    assert fit(model, [callback(tmp_path)], epochs=4) == fit(reference, epochs=4)
    run = read(tmp_path)
    (group,) = run.groups.values()
    windows = group.windows
    assert windows.first_step.tolist() == list(range(32))
    overflowed = windows.overflow_steps > 0
    assert overflowed.any() and not overflowed[-1]
    bad = windows.nan_steps + windows.inf_steps > 0
    assert (bad.any(axis=1) == overflowed).all()
    assert (windows.handled_steps[bad] == 1).all()
    assert windows.loss_scale[overflowed].min() > windows.loss_scale[-1]
    good = ~overflowed
    assert (windows.norm_last[good] < 1e4).all() and (windows.norm_last[good] > 1e-6).all()
    assert not any(i.kind in ("nan", "inf") for i in run.incidents)


def test_gradient_accumulation_records_every_micro_step(tmp_path):
    keras = keras_of("keras")
    model = mlp(keras, keras.optimizers.SGD(0.01, gradient_accumulation_steps=4))
    fit(model, [callback(tmp_path)], epochs=1)
    assert only_group(tmp_path).windows.first_step.tolist() == list(range(8))


def test_moving_averages_of_weights_are_left_alone(tmp_path):
    keras = keras_of("keras")

    def run(callbacks):
        model = mlp(keras, keras.optimizers.SGD(0.01, use_ema=True, ema_momentum=0.9))
        fit(model, callbacks)
        return [w.numpy() for w in model.weights]

    for plain, recorded in zip(run([]), run([callback(tmp_path)]), strict=True):
        np.testing.assert_array_equal(plain, recorded)


def test_mixed_bfloat16(tmp_path):
    keras = keras_of("keras")
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [keras.layers.Input((4,)), keras.layers.Dense(5, dtype="mixed_bfloat16"), keras.layers.Dense(1)]
    )
    model.compile("sgd", "mse")
    fit(model, [callback(tmp_path)], epochs=1)
    assert (only_group(tmp_path).windows.state_last == State.FINITE).all()
