"""Nothing that happens to the log breaks the training: one warning, and what was written stays readable."""

import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import tensorflow as tf
from training import fit, keras_of, mlp, only_group, read

import tb_gradhealth
from tb_gradhealth.record import log as live_log

pytestmark = pytest.mark.filterwarnings("default::tb_gradhealth.record.guard.GradHealthWarning")


def losses(log_dir=None, during=(), **options):
    callbacks = [] if log_dir is None else [tb_gradhealth.GradHealthCallback(log_dir, explain=False, **options)]
    return fit(mlp(keras_of("keras")), [*callbacks, *during], epochs=3)


@pytest.fixture(scope="module")
def plain():
    return losses()


def test_a_directory_that_cannot_be_made(tmp_path, plain):
    (tmp_path / "file").write_text("not a directory")
    with pytest.warns(UserWarning, match="stopped recording to .*Training goes on") as warned:
        assert losses(tmp_path / "file" / "run") == plain
    assert len(warned) == 1


def test_a_directory_that_is_removed_during_training(tmp_path, plain, monkeypatch):
    monkeypatch.setattr(live_log, "FLUSH_SECONDS", 0.0)
    monkeypatch.setattr("tb_gradhealth.record.recorder.LOOK_SECONDS", 0.0)
    keras = keras_of("keras")

    class Removes(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 1:
                shutil.rmtree(tmp_path / "run")

    with pytest.warns(UserWarning, match=r"stopped recording.*was removed while it was being written") as warned:
        assert losses(tmp_path / "run", [Removes()]) == plain
    assert len(warned) == 1


def test_a_full_disk(tmp_path, plain, monkeypatch):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(disk)], check=False)
    if mounted.returncode:
        limit_writes(monkeypatch)  # no right to mount: the sink itself runs out of room
    try:
        monkeypatch.setattr(live_log, "FLUSH_SECONDS", 0.0)
        with pytest.warns(UserWarning, match="stopped recording") as warned:
            assert losses(disk) == plain
        assert len(warned) == 1
        assert read(disk).groups["adam"].windows.steps.sum() > 0
    finally:
        if not mounted.returncode:
            subprocess.run(["umount", "-l", str(disk)], check=False)


def limit_writes(monkeypatch):
    from tb_gradhealth.record.sink import EventFile

    write, counts = EventFile.write, []

    def limited(sink, record):
        counts.append(1)
        if len(counts) > 10:
            raise OSError(f"{sink.path}: No space left on device")
        write(sink, record)

    monkeypatch.setattr(EventFile, "write", limited)


def test_an_error_of_ours_is_a_warning(tmp_path, plain, monkeypatch):
    monkeypatch.setattr("tb_gradhealth.record.history.single_steps", lambda *a: 1 / 0)
    with pytest.warns(UserWarning, match="stopped recording to .*division by zero"):
        assert losses(tmp_path) == plain


def test_an_error_of_the_health_rules_leaves_the_record(tmp_path, plain, monkeypatch):
    monkeypatch.setattr("tb_gradhealth.health.Tracker.feed", lambda *a: 1 / 0)
    with pytest.warns(UserWarning, match="stopped looking for incidents"):
        assert losses(tmp_path) == plain
    assert only_group(tmp_path).windows.steps.sum() == 24


def test_warnings_that_are_errors_do_not_break_the_training(tmp_path, plain):
    import warnings

    (tmp_path / "file").write_text("")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert losses(tmp_path / "file") == plain


def test_a_clock_that_goes_backwards(tmp_path, plain, monkeypatch):
    now = iter(range(10**6, 0, -1))
    monkeypatch.setattr(time, "time", lambda: float(next(now)))
    assert losses(tmp_path) == plain
    monkeypatch.undo()
    wall_times = only_group(tmp_path).windows.wall_time
    assert (np.diff(wall_times) >= 0).all()
    assert only_group(tmp_path).windows.steps.sum() == 24


KILLED = """
import os, sys, time
import tensorflow as tf
import tb_gradhealth
from tb_gradhealth.record import log
log.FLUSH_SECONDS = 0.05
variable = tf.Variable([1.0], name="w")
writer = tb_gradhealth.GradHealthWriter(sys.argv[1], explain=False)
for step in range(int(sys.argv[2]), 10**6):
    writer.record([variable * 1.0], [variable], step=step)
    if step % 100 == 0:
        print(step, flush=True)
"""


def test_a_process_that_is_killed_and_started_again(tmp_path):
    for start in (0, 150):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path), str(start)], stdout=subprocess.PIPE, text=True
        )
        for line in process.stdout:
            if int(line) >= start + 300:
                break
        time.sleep(3)  # what was fetched is worked in once a second
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
    group = only_group(tmp_path)
    steps = group.windows.first_step
    assert len(group.generations) == 2
    assert steps[0] == 0 and (np.diff(steps) > 0).all()
    assert group.windows.last_step[-1] > 350


@pytest.mark.parametrize("count", [1, 2000])
def test_one_variable_and_very_many(tmp_path, count):
    variables = [tf.Variable(float(i), name=f"v{i}") for i in range(count)]
    with tb_gradhealth.GradHealthWriter(tmp_path, explain=False, detail=0) as writer:
        for _ in range(3):
            writer.record([tf.constant(1.0)] * count, variables)
    group = only_group(tmp_path)
    assert len(group.schema.variables) == count
    assert group.windows.norm_last.sum() == 3 * count
