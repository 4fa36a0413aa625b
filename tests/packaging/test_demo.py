"""The demo's own parts; what its runs hold is tested in `tests/examples`."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from layers import ROOT

sys.path.insert(0, str(ROOT))
from demo import runs, serve, training


@pytest.fixture
def logs(tmp_path, monkeypatch):
    for module in (runs, training):
        monkeypatch.setattr(module, "LOGS", tmp_path)
    return tmp_path


def program(folder, text):
    path = folder / "program.py"
    path.write_text(
        f"import os, sys\nlog_dir = sys.argv[sys.argv.index('--log-dir') + 1]\nos.makedirs(log_dir)\n{text}"
    )
    return path


COUNT = "open(os.path.join(os.path.dirname(log_dir), 'calls'), 'a').write('x')\nprint('step 1  loss 2.0')"


def test_a_second_call_reuses_what_is_there(logs, capsys):
    run = runs.Run("one", program(logs, COUNT))
    assert training.train([run]) == 1
    assert training.train([run]) == 0
    assert training.train([run], again=True) == 1
    assert (logs / "calls").read_text() == "xx"
    assert "[1/1] one: step 1  loss 2.0" in capsys.readouterr().out


def test_a_changed_program_is_trained_anew_and_its_old_log_removed(logs):
    run = runs.Run("one", program(logs, COUNT))
    training.train([run])
    (run.log_dir / "old").touch()
    program(logs, COUNT + "\n# changed")
    assert training.train([run]) == 1
    assert not (run.log_dir / "old").exists()


def test_a_run_that_was_broken_off_is_trained_anew(logs):
    run = runs.Run("one", program(logs, COUNT))
    run.log_dir.mkdir()
    (run.log_dir / "half").touch()
    assert training.train([run]) == 1
    assert not (run.log_dir / "half").exists()


def test_a_program_that_fails_is_shown_with_the_end_of_its_output(logs):
    run = runs.Run("one", program(logs, "sys.exit('out of luck')"))
    with pytest.raises(training.TrainingError, match=r"(?s)one ended with code 1.*out of luck"):
        training.train([run])
    assert not training.is_complete(run)


@pytest.mark.parametrize("text", ["print('expected words')", "sys.exit('other words')"])
def test_a_program_that_should_raise_and_does_not_is_an_error(logs, text):
    with pytest.raises(training.TrainingError):
        training.train([runs.Run("one", program(logs, text), raises="expected words")])


def test_a_program_that_raises_as_it_should_is_complete(logs):
    run = runs.Run("one", program(logs, "sys.exit('expected words')"), raises="expected words")
    training.train([run])
    assert training.is_complete(run)


def test_the_demo_has_a_healthy_run_and_all_examples():
    assert {run.program.name for run in runs.RUNS} == {"healthy_gru.py"} | {
        path.name for path in (ROOT / "examples").glob("*.py")
    }


@pytest.fixture
def taken_port():
    with socket.socket() as server:
        server.bind(("localhost", 0))
        server.listen()
        yield server.getsockname()[1]


def test_a_wanted_port_that_is_taken_is_an_error_that_says_what_to_do(taken_port):
    with pytest.raises(serve.ServeError, match=rf"Port {taken_port} is taken.*(?s:.)*leave out --port"):
        serve.free_port(taken_port)


def test_without_a_wish_the_next_free_port_is_taken(taken_port, monkeypatch, capsys):
    monkeypatch.setattr(serve, "FIRST_PORT", taken_port)
    monkeypatch.setattr(serve, "LAST_PORT", taken_port + 20)
    assert taken_port < serve.free_port(None) <= taken_port + 20
    assert f"Port {taken_port} is taken" in capsys.readouterr().out


def test_a_range_of_taken_ports_is_an_error(taken_port, monkeypatch):
    monkeypatch.setattr(serve, "FIRST_PORT", taken_port)
    monkeypatch.setattr(serve, "LAST_PORT", taken_port)
    with pytest.raises(serve.ServeError, match="Choose another one with --port"):
        serve.free_port(None)


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_a_port_that_is_none_is_refused(port):
    with pytest.raises(serve.ServeError, match=f"Received: --port {port}"):
        serve.free_port(port)


@pytest.mark.slow
def test_tensorboard_is_served_until_ctrl_c(tmp_path):
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    code = (
        "import sys, pathlib; from demo import serve; "
        f"sys.exit(serve.tensorboard(pathlib.Path({str(tmp_path)!r}), {port}))"
    )
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    try:
        address = f"http://localhost:{port}/#gradhealth"
        assert any(address in line for line in process.stdout)
        with urllib.request.urlopen(f"http://localhost:{port}/data/plugins_listing", timeout=30) as answer:
            assert "gradhealth" in json.load(answer)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
        assert serve.is_free(port)
    finally:
        process.kill()
        process.communicate()
