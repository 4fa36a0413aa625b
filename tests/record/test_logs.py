"""What other callbacks find in Keras's `logs`, and that they need not stand in any order."""

import csv

import numpy as np
import pytest
import tensorflow as tf
from training import data, keras_of, mlp, only_group

import tb_gradhealth

# Keras itself, where it saves under NumPy 2.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword")

KERAS = ["keras", "tf_keras"]


def train(keras, callbacks, epochs=3, **options):
    model = mlp(keras)
    x, y = data()
    return model.fit(x, y, batch_size=8, epochs=epochs, callbacks=callbacks, verbose=0, **options).history


@pytest.mark.parametrize("first", [True, False], ids=["ours first", "ours last"])
@pytest.mark.parametrize("name", KERAS)
def test_each_batch_tells_the_newest_known_norm(tmp_path, monkeypatch, name, first):
    monkeypatch.setattr("tb_gradhealth.record.recorder.LOOK_SECONDS", 0.0)
    keras = keras_of(name)
    seen = []

    class Reads(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            seen.append((logs["grad_norm"], logs["gradhealth_bad"]))

    ours = tb_gradhealth.GradHealthCallback(tmp_path, explain=False)
    train(keras, [ours, Reads()] if first else [Reads(), ours])
    norms = only_group(tmp_path).windows.global_norm
    np.testing.assert_allclose([norm for norm, _ in seen], norms, rtol=1e-6)
    assert {bad for _, bad in seen} == {0}


@pytest.mark.parametrize("name", KERAS)
def test_the_device_is_not_read_for_the_logs(tmp_path, monkeypatch, name):
    from tb_gradhealth.record.recorder import Recorder

    monkeypatch.setattr("tb_gradhealth.record.recorder.LOOK_SECONDS", 1e9)
    keras = keras_of(name)
    looks, seen = [], []
    look = Recorder.look
    monkeypatch.setattr(Recorder, "look", lambda recorder: looks.append(1) or look(recorder))

    class Reads(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            seen.append(logs["grad_norm"])

    train(keras, [tb_gradhealth.GradHealthCallback(tmp_path, explain=False), Reads()], epochs=4)
    assert len(seen) == 32 and np.isfinite(seen).all()
    assert len(looks) <= 1 + 4  # the first step, and the end of each epoch


@pytest.mark.parametrize("name", KERAS)
def test_keras_own_callbacks_use_them(tmp_path, monkeypatch, name):
    keras = keras_of(name)
    names = keras.callbacks
    history = train(
        keras,
        [
            names.EarlyStopping(monitor="grad_norm", mode="max", min_delta=1e9, patience=1),
            names.CSVLogger(str(tmp_path / "log.csv")),
            names.ModelCheckpoint(
                str(tmp_path / "{epoch}.weights.h5"),
                monitor="grad_norm", mode="min", save_best_only=True, save_weights_only=True,
            ),
            names.TensorBoard(str(tmp_path / "tb"), update_freq=1),
            tb_gradhealth.GradHealthCallback(tmp_path / "tb", explain=False),
        ],
        epochs=9,
    )  # fmt: skip
    assert len(history["loss"]) == len(history["grad_norm"]) == 2  # stopped by grad_norm
    with open(tmp_path / "log.csv") as file:
        assert [float(row["grad_norm"]) for row in csv.DictReader(file)] == pytest.approx(history["grad_norm"])
    assert (tmp_path / "1.weights.h5").exists()
    tags = set()
    for path in (tmp_path / "tb" / "train").glob("events*"):
        for record in tf.data.TFRecordDataset(str(path)):
            event = tf.compat.v1.Event.FromString(record.numpy())
            tags |= {value.tag for value in event.summary.value}
    assert {"epoch_grad_norm", "epoch_gradhealth_bad"} <= tags
    assert only_group(tmp_path / "tb").windows.steps.sum() == 16


@pytest.mark.parametrize("name", KERAS)
def test_bad_steps_are_counted_by_epoch(tmp_path, monkeypatch, name):
    monkeypatch.setattr("tb_gradhealth.record.recorder.LOOK_SECONDS", 0.0)
    keras = keras_of(name)
    counts = []

    class Reads(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            counts.append(logs["gradhealth_bad"])

    model = mlp(keras)
    x, y = data()
    x[2 * 8] = np.nan
    ours = tb_gradhealth.GradHealthCallback(tmp_path, explain=False, on_nonfinite="skip")
    history = model.fit(x, y, batch_size=8, epochs=2, verbose=0, shuffle=False, callbacks=[ours, Reads()]).history
    assert history["gradhealth_bad"] == [1, 1]
    assert counts == [0, 0, 1, 1, 1, 1, 1, 1] * 2
