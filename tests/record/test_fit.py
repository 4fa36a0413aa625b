"""`GradHealthCallback` in `fit`, with Keras 3 and tf_keras, in every way of running the step."""

import gc

import numpy as np
import pytest
import tensorflow as tf
from training import data, fit, keras_of, mlp, names_of, only_group, read

import tb_gradhealth
from tb_gradhealth.format.states import State

# Keras itself, where it saves and loads under NumPy 2.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword")

KERAS = ["keras", "tf_keras"]
WAYS = {
    "graph": {},
    "eager": {"run_eagerly": True},
    "xla": {"jit_compile": True},
    "16 steps a call": {"steps_per_execution": 16},
}


def callback(log_dir, **options):
    return tb_gradhealth.GradHealthCallback(str(log_dir), **options)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", KERAS)
def test_every_step_is_recorded_and_losses_are_bit_identical(tmp_path, name, way):
    keras = keras_of(name)
    plain = fit(mlp(keras, **WAYS[way]), epochs=3)
    model = mlp(keras, **WAYS[way])
    assert fit(model, [callback(tmp_path)], epochs=3) == plain
    group = only_group(tmp_path)
    assert group.windows.first_step.tolist() == list(range(24))
    assert (group.windows.state_last == State.FINITE).all()
    assert (group.windows.norm_last > 0).all()
    assert np.isfinite(group.windows.loss).all()
    np.testing.assert_allclose(group.windows.learning_rate, 0.01, rtol=1e-6)
    assert len(names_of(group)) == 4


@pytest.mark.parametrize("name", KERAS)
def test_norms_are_those_of_the_gradients(tmp_path, name):
    keras = keras_of(name)
    model = mlp(keras)
    x, y = data(8)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    expected = [np.linalg.norm(g) for g in tape.gradient(loss, model.trainable_variables)]
    fit(model, [callback(tmp_path)], epochs=1, rows=8)
    windows = only_group(tmp_path).windows
    np.testing.assert_allclose(windows.norm_last[0], expected, rtol=1e-5)
    np.testing.assert_allclose(windows.loss[0], float(loss), rtol=1e-5)
    np.testing.assert_allclose(windows.global_norm[0], np.linalg.norm(expected), rtol=1e-5)


@pytest.mark.parametrize("way", ["graph", "eager"])
@pytest.mark.parametrize("name", KERAS)
def test_detailed_numbers_of_the_first_step(tmp_path, name, way):
    keras = keras_of(name)
    model = mlp(keras, keras.optimizers.SGD(0.1), **WAYS[way])
    before = [v.numpy() for v in model.trainable_variables]
    fit(model, [callback(tmp_path)], epochs=1, rows=8)
    after = [v.numpy() for v in model.trainable_variables]
    windows = only_group(tmp_path).windows
    assert windows.detail_step[0] == 0
    weights = np.array([np.linalg.norm(b) for b in before])
    np.testing.assert_allclose(windows.weight_norm[0], weights, rtol=1e-5)
    changes = np.array([np.linalg.norm(a - b) for a, b in zip(after, before, strict=True)])
    known = weights > 0
    np.testing.assert_allclose(windows.update_ratio[0][known], (changes / np.maximum(weights, 1e-30))[known], rtol=1e-4)
    assert np.isnan(windows.update_ratio[0][~known]).all()
    assert (windows.largest[0] <= windows.norm_last[0]).all() and (windows.largest[0] > 0).all()
    np.testing.assert_array_equal(windows.zero_share[0], 0)


def test_detail_follows_its_schedule(tmp_path):
    fit(mlp(keras_of("keras")), [callback(tmp_path, detail=5)], epochs=2)
    steps = only_group(tmp_path).windows.detail_step
    assert set(steps[steps >= 0].tolist()) <= {0, 5, 10, 15}
    assert len(steps[steps >= 0]) >= 2


@pytest.mark.parametrize("name", KERAS)
def test_everything_is_as_it_was_after_fit(tmp_path, name):
    keras = keras_of(name)
    model = mlp(keras)
    fit(model)
    attributes = set(vars(model)), set(vars(model.optimizer))
    traced, saved = model.train_function, keras.optimizers.serialize(model.optimizer)
    weights = len(model.weights), len(model.optimizer.variables)
    fit(model, [callback(tmp_path)])
    assert (set(vars(model)), set(vars(model.optimizer))) == attributes
    assert model.train_function is traced
    assert keras.optimizers.serialize(model.optimizer) == saved
    assert (len(model.weights), len(model.optimizer.variables)) == weights


@pytest.mark.parametrize("name", KERAS)
def test_a_model_that_was_traced_before_is_recorded(tmp_path, name):
    model = mlp(keras_of(name))
    fit(model, epochs=1)
    fit(model, [callback(tmp_path)], epochs=1)
    assert only_group(tmp_path).windows.first_step.tolist() == list(range(8, 16))


@pytest.mark.parametrize("name", KERAS)
def test_several_fits_go_on_counting(tmp_path, name):
    model, recording = mlp(keras_of(name)), callback(tmp_path)
    for _ in range(3):
        fit(model, [recording], epochs=1)
    group = only_group(tmp_path)
    assert group.windows.first_step.tolist() == list(range(24))
    assert len(group.generations) == 1


def test_a_later_fit_with_the_same_callback_does_not_trace_again(tmp_path):
    traces = []

    class Model(keras_of("keras").Model):
        def __init__(self):
            super().__init__()
            self.dense = keras_of("keras").layers.Dense(1)

        def call(self, x):
            return self.dense(x)

        def train_step(self, data):
            traces.append(1)
            return super().train_step(data)

    model, recording = Model(), callback(tmp_path)
    model.compile("sgd", "mse")
    fit(model, [recording], epochs=1)
    first = len(traces)
    fit(model, [recording], epochs=1)
    assert len(traces) == first
    model.compile("adam", "mse")
    fit(model, [recording], epochs=1)
    assert len(traces) > first


@pytest.mark.parametrize("name", KERAS)
def test_an_exception_in_the_step_leaves_the_record_and_no_hooks(tmp_path, name):
    keras = keras_of(name)

    class Failing(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 3:
                raise KeyboardInterrupt

    class Breaks(keras.layers.Layer):
        def call(self, x):
            tf.debugging.assert_less(tf.reduce_max(tf.abs(x)), 1e9)
            return x

    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Input((4,)), Breaks(), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x, y = data()
    x[40] = 1e10
    with pytest.raises(tf.errors.InvalidArgumentError):
        model.fit(x, y, batch_size=8, verbose=0, shuffle=False, callbacks=[callback(tmp_path / "a")])
    assert not {"apply", "apply_gradients"} & set(vars(model.optimizer))
    assert not {"compute_loss", "train_step"} & set(vars(model))
    assert only_group(tmp_path / "a").windows.first_step.tolist()[:5] == list(range(5))
    interrupted = mlp(keras)
    try:
        fit(interrupted, [callback(tmp_path / "b"), Failing()])
        raise AssertionError("not interrupted")
    except KeyboardInterrupt:
        pass
    gc.collect()
    assert "apply_gradients" not in vars(interrupted.optimizer)
    assert "compute_loss" not in vars(interrupted)


def test_none_for_some_variables(tmp_path):
    keras = keras_of("keras")

    class Half(keras.layers.Layer):
        def build(self, shape):
            self.used = self.add_weight(shape=(4, 1), name="used")
            self.unused = self.add_weight(shape=(3,), name="unused")

        def call(self, x):
            return x @ self.used

    model = keras.Sequential([keras.layers.Input((4,)), Half(name="half")])
    model.compile("sgd", "mse")
    with pytest.warns(UserWarning, match="Gradients do not exist"):
        fit(model, [callback(tmp_path, explain=False)], epochs=1)
    run = read(tmp_path)
    (group,) = run.groups.values()
    assert group.windows.state_last[-1].tolist() == [State.FINITE, State.NONE]
    assert [(i.kind, i.first_step) for i in run.incidents] == [("none", 0)]


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize("way", ["graph", "eager", "xla"])
def test_when_every_gradient_is_none_the_record_is_there_before_keras_raises(tmp_path, name, way):
    keras = keras_of(name)
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1), keras.layers.Lambda(tf.round)])
    model.compile("sgd", "mse", **WAYS[way])
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        fit(model, [callback(tmp_path, explain=False)], epochs=1)
    run = read(tmp_path)
    (group,) = run.groups.values()
    assert group.windows.first_step.tolist() == [0]
    assert (group.windows.state_last == State.NONE).all()
    assert [i.kind for i in run.incidents] == ["none"]


def test_epoch_logs_tell_of_the_gradients(tmp_path):
    model = mlp(keras_of("keras"))
    x, y = data()
    history = model.fit(x, y, batch_size=8, epochs=2, verbose=0, callbacks=[callback(tmp_path)]).history
    assert history["gradhealth_bad"] == [0, 0]
    windows = only_group(tmp_path).windows
    np.testing.assert_allclose(history["grad_norm"], windows.global_norm[[7, 15]], rtol=1e-6)


def test_a_second_callback_on_the_same_model_in_another_thread_is_refused(tmp_path):
    import threading

    keras = keras_of("keras")
    model = mlp(keras)
    inside, finish, caught = threading.Event(), threading.Event(), []

    class Waits(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            inside.set()
            finish.wait(30)

    thread = threading.Thread(target=lambda: fit(model, [callback(tmp_path / "a"), Waits()], epochs=1))
    thread.start()
    inside.wait(30)
    try:
        fit(model, [callback(tmp_path / "b")], epochs=1)
    except RuntimeError as error:
        caught.append(str(error))
    finish.set()
    thread.join()
    assert caught and "another thread" in caught[0]


def test_resumed_in_the_same_directory(tmp_path):
    keras = keras_of("keras")
    model = mlp(keras)
    fit(model, [callback(tmp_path)], epochs=2)
    model.save(tmp_path / "model.keras")
    resumed = keras.models.load_model(tmp_path / "model.keras")
    x, y = data()
    resumed.fit(x, y, batch_size=8, epochs=4, initial_epoch=2, verbose=0, callbacks=[callback(tmp_path)])
    assert only_group(tmp_path).windows.first_step.tolist() == list(range(32))


def test_other_callbacks_can_save_and_copy_the_model_while_it_is_recorded(tmp_path):
    import pickle

    keras = keras_of("keras")
    model = mlp(keras)
    seen = []

    class Saves(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.model.save(tmp_path / "m.keras")
            copy = pickle.loads(pickle.dumps(self.model))
            clone = keras.models.clone_model(self.model)
            seen.append((len(copy.weights), len(clone.weights)))

    fit(model, [callback(tmp_path / "log"), Saves()], epochs=1)
    assert seen == [(4, 4)]
    assert len(keras.models.load_model(tmp_path / "m.keras").weights) == 4


def test_evaluate_with_the_callback_records_nothing_and_leaves_no_hooks(tmp_path):
    model, recording = mlp(keras_of("keras")), callback(tmp_path)
    x, y = data()
    model.evaluate(x, y, verbose=0, callbacks=[recording])
    assert "apply_gradients" not in vars(model.optimizer)
    assert not (tmp_path / "gradhealth").exists()


def test_two_models_one_after_the_other_with_one_callback(tmp_path):
    recording = callback(tmp_path)
    for seed in (1, 2):
        fit(mlp(keras_of("keras"), seed=seed), [recording], epochs=1)
    group = only_group(tmp_path)
    assert len([v for v in group.generations[-1].variables]) == 4
    assert group.windows.first_step.tolist() == list(range(16))
