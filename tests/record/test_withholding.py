"""`on_nonfinite` in `fit`: updates held back in the graph, with every way of running the step."""

import numpy as np
import pytest
from training import data, keras_of, only_group

import tb_gradhealth

WAYS = {"graph": {}, "eager": {"run_eagerly": True}, "xla": {"jit_compile": True}, "calls": {"steps_per_execution": 4}}


def model_of(keras, **options):
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [
            keras.layers.Input((4,)),
            keras.layers.Dense(5, activation="relu"),
            keras.layers.BatchNormalization(),
            keras.layers.Dense(1),
        ]
    )
    model.compile(keras.optimizers.Adam(0.01), "mse", **options)
    return model


def train(model, callbacks, bad=None, rows=64):
    x, y = data(rows)
    if bad is not None:
        x[bad] = np.nan
    model.fit(x, y, batch_size=8, epochs=1, verbose=0, shuffle=False, callbacks=callbacks)
    return [np.array(w) for w in model.get_weights()]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["keras", "tf_keras"])
def test_stop_leaves_every_weight_as_it_was_after_the_last_good_step(tmp_path, name, way):
    keras = keras_of(name)
    good = train(model_of(keras, **WAYS[way]), [], rows=32)
    recording = tb_gradhealth.GradHealthCallback(tmp_path, on_nonfinite="stop", explain=False)
    model = model_of(keras, **WAYS[way])
    stopped = train(model, [recording], bad=4 * 8 + 3)
    for expected, found in zip(good, stopped, strict=True):
        np.testing.assert_array_equal(found, expected)
    windows = only_group(tmp_path).windows
    assert windows.first_bad_step.max() == 4
    assert windows.skipped_steps[4] == 1 and windows.skipped_steps[:4].sum() == 0


@pytest.mark.parametrize("way", ["graph", "xla"])
def test_skip_goes_on_as_if_the_bad_step_had_not_been(tmp_path, way):
    keras = keras_of("keras")
    recording = tb_gradhealth.GradHealthCallback(tmp_path, on_nonfinite="skip", explain=False)
    skipped = train(model_of(keras, **WAYS[way]), [recording], bad=2 * 8 + 1)
    x, y = data()
    keep = np.r_[0:16, 24:64]
    reference = model_of(keras, **WAYS[way])
    reference.fit(x[keep], y[keep], batch_size=8, epochs=1, verbose=0, shuffle=False)
    for expected, found in zip(reference.get_weights(), skipped, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    assert only_group(tmp_path).windows.skipped_steps.tolist() == [0, 0, 1, 0, 0, 0, 0, 0]


def test_stop_ends_the_training(tmp_path):
    keras = keras_of("keras")
    model = model_of(keras)
    x, y = data()
    x[3] = np.nan
    recording = tb_gradhealth.GradHealthCallback(tmp_path, on_nonfinite="stop", explain=False)
    history = model.fit(x, y, batch_size=8, epochs=50, verbose=0, callbacks=[recording]).history
    assert len(history["loss"]) < 50
    assert model.stop_training


def test_a_later_training_with_the_same_callback_is_not_stopped_from_the_start(tmp_path):
    keras = keras_of("keras")
    model = model_of(keras)
    recording = tb_gradhealth.GradHealthCallback(tmp_path, on_nonfinite="stop", explain=False)
    before = train(model, [recording], bad=0)
    after = train(model, [recording])
    assert not np.array_equal(before[0], after[0])


def test_record_changes_nothing(tmp_path):
    keras = keras_of("keras")
    plain = train(model_of(keras), [], bad=20)
    recording = tb_gradhealth.GradHealthCallback(tmp_path, explain=False)
    for expected, found in zip(plain, train(model_of(keras), [recording], bad=20), strict=True):
        np.testing.assert_array_equal(found, expected)
