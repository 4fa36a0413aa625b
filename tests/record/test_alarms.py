"""Alarms: each incident once, soon, and what the ready-made ones do."""

import copy
import http.server
import json
import logging
import threading
import time

import numpy as np
import pytest
import tensorflow as tf
from training import data, fit, keras_of, mlp, only_group, read

import tb_gradhealth
from tb_gradhealth import alarms
from tb_gradhealth.record.guard import GradHealthWarning

KERAS = ["keras", "tf_keras"]
NAN = tf.constant(float("nan"))


def callback(log_dir, **options):
    return tb_gradhealth.GradHealthCallback(log_dir, explain=False, **options)


def record_nan(log_dir, on_incident, before=3, after=0):
    variable = tf.Variable(2.0, name="w")
    with tb_gradhealth.GradHealthWriter(log_dir, on_incident=on_incident, explain=False) as writer:
        for gradient in [tf.constant(1.0)] * before + [NAN] + [tf.constant(1.0)] * after:
            writer.record([gradient], [variable])
            variable.assign_sub(gradient)


def bad_fit(keras, callbacks, bad=(4 * 8 + 3,), epochs=1, **options):
    model = mlp(keras, keras.optimizers.SGD(0.05), **options)
    x, y = data()
    x[list(bad)] = np.nan
    model.fit(x, y, batch_size=8, epochs=epochs, verbose=0, shuffle=False, callbacks=callbacks)
    return model


def good_weights(keras, steps, **options):
    model = mlp(keras, keras.optimizers.SGD(0.05), **options)
    x, y = data()
    model.fit(x[: steps * 8], y[: steps * 8], batch_size=8, verbose=0, shuffle=False)
    return [np.array(w) for w in model.get_weights()]


def test_several_alarms_and_functions_are_all_told_though_one_fails(tmp_path):
    told = []

    def fails(incident):
        raise KeyError("no such pager")

    with pytest.warns(GradHealthWarning, match="stopped calling `on_incident`.*no such pager") as warned:
        record_nan(tmp_path, [fails, told.append], after=20)
    assert len(warned) == 1
    assert [(i.kind, i.first_step) for i in told] == [("nan", 3)]


@pytest.mark.parametrize("every", ["auto", 1, 1000])
def test_an_incident_is_told_once_and_in_time_whatever_the_window_is(tmp_path, every):
    told = []
    variable = tf.Variable(1.0, name="w")
    on_incident = lambda incident: told.append((incident, time.monotonic()))  # noqa: E731
    with tb_gradhealth.GradHealthWriter(tmp_path, every=every, on_incident=on_incident, explain=False) as writer:
        for _ in range(600):
            writer.record([tf.constant(1.0)], [variable])
        bad = time.monotonic()
        for step in range(40):
            writer.record([NAN if step < 3 else tf.constant(1.0)], [variable])
            time.sleep(0.05)
    ((incident, at),) = told
    assert (incident.kind, incident.first_step, incident.variables) == ("nan", 600, ("w",))
    assert at - bad < 1.5


def test_what_is_no_alarm_is_refused(tmp_path):
    for wrong in ("print", 3, [print, 3], alarms.StopTraining):
        with pytest.raises(
            TypeError, match=r"must be a function that takes an Incident.*Received: on_incident=.*Write"
        ):
            callback(tmp_path, on_incident=wrong) if wrong is not alarms.StopTraining else callback(
                tmp_path, on_incident=[wrong]
            )
    with pytest.raises(TypeError, match=r"`kinds` must be a list.*Received: kinds='nan'"):
        alarms.LogLine(kinds="nan")
    with pytest.raises(ValueError, match=r"`severity` must be.*Received: severity='awful'"):
        alarms.LogLine(severity="awful")
    with pytest.raises(ValueError, match=r"must begin with http.*Received: url='ftp://x'"):
        alarms.Webhook("ftp://x")
    with pytest.raises(TypeError, match=r"`directory` must be a path.*Received: directory=3"):
        alarms.SaveWeights(3)


def test_log_line(tmp_path, caplog):
    with caplog.at_level(logging.INFO):
        record_nan(tmp_path, [alarms.LogLine("mine"), alarms.LogLine("none", kinds=["exploding"])])
    (line,) = caplog.records
    assert (line.name, line.levelname) == ("mine", "ERROR")
    assert line.getMessage().startswith("Step 3: ") and "\n" not in line.getMessage()


@pytest.mark.parametrize("name", KERAS)
def test_stop_training_ends_fit(tmp_path, name, capsys):
    stop = alarms.StopTraining()
    model = bad_fit(keras_of(name), [callback(tmp_path, on_incident=stop)], bad=(3,), epochs=500)
    assert model.stop_training and stop.incident.kind == "nan"
    assert only_group(tmp_path).windows.last_step[-1] < 499 * 8
    assert capsys.readouterr().err.count("training is stopped. Step 0: ") == 1


def test_stop_training_tells_a_loop_of_ones_own_and_ends_a_session(tmp_path):
    stop = alarms.StopTraining()
    record_nan(tmp_path / "a", stop)
    assert stop.incident.first_step == 3
    with tf.Graph().as_default():
        v = tf.compat.v1.get_variable("v", initializer=1.0)
        pairs = [(tf.math.log(-v), v)]
        stop = alarms.StopTraining()
        hook = tb_gradhealth.v1.GradHealthHook(tmp_path / "b", pairs, on_incident=stop, explain=False)
        runs = 0
        with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as session:
            while not session.should_stop() and runs < 10000:
                session.run(pairs[0][0])
                runs += 1
        assert stop.incident is not None and runs < 10000
        with pytest.raises(TypeError, match=r"TensorFlow 1 graph.*CheckpointSaverHook"):
            tb_gradhealth.v1.GradHealthHook(tmp_path / "c", pairs, on_incident=alarms.SaveWeights(tmp_path))


@pytest.mark.parametrize("way", [{}, {"run_eagerly": True}, {"jit_compile": True}], ids=["graph", "eager", "xla"])
@pytest.mark.parametrize("policy", ["record", "stop"])
@pytest.mark.parametrize("name", KERAS)
def test_the_weights_from_before_the_bad_update_are_saved(tmp_path, name, policy, way):
    keras = keras_of(name)
    saving = alarms.SaveWeights(tmp_path / "rescued")
    model = bad_fit(keras, [callback(tmp_path, on_incident=saving, on_nonfinite=policy)], **way)
    (path,) = saving.paths
    assert path.endswith("sgd-step-4-nan.npz")
    if policy == "record":
        assert np.isnan(model.get_weights()[0]).any()
    rescued = mlp(keras, seed=7)
    about = alarms.restore(path, rescued)
    assert (about["step"], about["kind"]) == (4, "nan")
    for found, expected in zip(rescued.get_weights(), good_weights(keras, 4, **way), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_skip_saves_weights_that_no_bad_update_touched(tmp_path):
    keras = keras_of("keras")
    saving = alarms.SaveWeights(tmp_path / "rescued")
    model = bad_fit(keras, [callback(tmp_path, on_incident=saving, on_nonfinite="skip")])
    rescued = mlp(keras, seed=7)
    assert "withheld" in alarms.restore(saving.paths[0], rescued)["weights"]
    assert all(np.isfinite(w).all() for w in (*rescued.get_weights(), *model.get_weights()))


def test_weights_of_a_custom_loop_on_any_filesystem(tmp_path):
    saving = alarms.SaveWeights("ram://rescued")
    record_nan(tmp_path, saving)
    variable = tf.Variable(0.0, name="w")
    alarms.restore(saving.paths[0], [variable])
    assert variable.numpy() == 2.0 - 3.0
    with pytest.raises(ValueError, match=r"does not fit.*Received: 'w' of shape \(2,\), which is of shape \(\)"):
        alarms.restore(saving.paths[0], [tf.Variable([0.0, 0.0], name="w")])


def test_half_precision_weights_come_back(tmp_path):
    variable = tf.Variable([1.5, -2.0], dtype=tf.bfloat16, name="w")
    saving = alarms.SaveWeights(tmp_path / "rescued")
    with tb_gradhealth.GradHealthWriter(tmp_path, on_incident=saving, explain=False) as writer:
        for value in (1.0, float("nan")):
            writer.record([tf.cast([value, 1.0], tf.bfloat16)], [variable])
    again = tf.Variable([0.0, 0.0], dtype=tf.bfloat16, name="w")
    alarms.restore(saving.paths[0], [again])
    assert tf.cast(again, tf.float32).numpy().tolist() == [1.5, -2.0]


class _Server:
    """Takes POST requests; answers after `wait` seconds, or when `until` is set."""

    def __init__(self, wait=0.0, until=None):
        self.bodies, self.answered, outer = [], [], self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.bodies.append((self.headers["Content-Type"], self.headers["X-Key"], json.loads(body)))
                time.sleep(wait) if until is None else until.wait(60)
                outer.answered.append(1)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


def test_webhook_sends_each_incident_as_json(tmp_path):
    with _Server() as server:
        record_nan(tmp_path, alarms.Webhook(server.url, headers={"X-Key": "k"}))
        ((kind, key, sent),) = server.bodies
    assert (kind, key) == ("application/json", "k")
    assert (sent["kind"], sent["first_step"], sent["variables"], sent["severity"]) == ("nan", 3, ["w"], "bad")
    assert sent["text"].startswith(f"{tmp_path}: Step 3: ") and sent["log_dir"] == str(tmp_path)


def test_webhook_holds_up_no_step(tmp_path):
    answer = threading.Event()
    with _Server(until=answer) as server:
        hook = alarms.Webhook(server.url, timeout=30)
        variable = tf.Variable(2.0, name="w")
        with tb_gradhealth.GradHealthWriter(tmp_path, on_incident=hook, explain=False) as writer:
            for gradient in [tf.constant(1.0)] * 3 + [NAN] * 100:
                writer.record([gradient], [variable])
            writer.flush()
            assert server.answered == []  # all steps are done, and nobody has answered yet
            answer.set()
        assert len(server.answered) == len(server.bodies) == 1


def test_a_webhook_that_is_too_slow_is_a_warning(tmp_path):
    (incident,) = read_nan_incident(tmp_path)
    with _Server(wait=2.0) as server, pytest.warns(GradHealthWarning, match=r"could not be sent to http.*timed out"):
        hook = alarms.Webhook(server.url, timeout=0.3)
        hook(incident)
        hook.close()


def test_a_webhook_that_nobody_answers_is_one_warning(tmp_path):
    hook = alarms.Webhook("http://127.0.0.1:9/nobody", timeout=1)
    (incident,) = read_nan_incident(tmp_path)
    with pytest.warns(GradHealthWarning, match="could not be sent") as warned:
        for _ in range(5):
            hook(incident)
        hook.close()
    assert len(warned) == 1


def test_the_queue_of_a_webhook_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("tb_gradhealth.record.alarms.webhook.QUEUED", 3)
    (incident,) = read_nan_incident(tmp_path)
    with _Server(wait=0.5) as server:
        hook = alarms.Webhook(server.url)
        with pytest.warns(GradHealthWarning, match="3 incidents are waiting to be sent") as warned:
            for _ in range(20):
                hook(incident)
        hook.close()
        assert len(warned) == 1 and 3 <= len(server.bodies) <= 4


def read_nan_incident(tmp_path):
    told = []
    record_nan(tmp_path, told.append)
    return told


def test_a_copied_callback_is_a_new_one_with_the_same_arguments(tmp_path):
    stop, hook = alarms.StopTraining(), alarms.Webhook("http://127.0.0.1:9/")
    first = callback(tmp_path / "log", every=4, on_incident=[stop, hook, alarms.SaveWeights(tmp_path)])
    second = copy.deepcopy(first)
    fit(mlp(keras_of("keras")), [second], epochs=1)
    assert only_group(tmp_path / "log").schema.every == "4"
    fit(mlp(keras_of("keras")), [first], epochs=1)
    assert read(tmp_path / "log").incidents == ()


@pytest.mark.parametrize("severity", ["info", "watch", "bad"])
def test_alarms_are_raised_by_severity(tmp_path, severity):
    import dataclasses

    (incident,) = read_nan_incident(tmp_path)
    raised = []

    class Mine(alarms.Alarm):
        def raised(self, incident):
            raised.append(incident.severity)

    for level in ("info", "watch", "bad"):
        Mine(severity=severity)(dataclasses.replace(incident, severity=level))
    assert raised == ["info", "watch", "bad"][["info", "watch", "bad"].index(severity) :]
