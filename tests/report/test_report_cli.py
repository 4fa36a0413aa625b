"""`tb-gradhealth report`: the JSON contract, exit codes, choices, and that it runs without TensorFlow."""

import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from report_world import CAUSE, NAN, Run, healthy, ill

from tb_gradhealth.__main__ import main

OUTPUT = {"capture_output": True, "text": True}


@pytest.fixture
def logs(tmp_path):
    ill(tmp_path / "sick" / "gradhealth")
    healthy(tmp_path / "well" / "gradhealth")
    return str(tmp_path)


def call(capsys, *arguments):
    code = main(["report", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_json_contract(logs, capsys):
    code, out, err = call(capsys, logs, "--json")
    report = json.loads(out)
    assert (code, err) == (1, "")
    assert report["format"] == 1
    sick, well = report["runs"]
    assert (sick["run"], sick["first_step"], sick["last_step"], sick["verdict"]) == (
        "sick/gradhealth",
        0,
        4,
        "unhealthy",
    )
    assert (well["run"], well["verdict"], well["incidents"]) == ("well/gradhealth", "healthy", [])
    variable = sick["variables"][0]
    expected = {
        "name": "encoder/gru/kernel",
        "group": "adam",
        "shape": [64, 96],
        "state": "nan",
        "since": 3,
        "norm": None,
    }
    assert {k: variable[k] for k in expected} == expected
    assert (sick["variables"][1]["state"], sick["variables"][1]["norm"]) == ("ok", 2.0)
    (incident,) = sick["incidents"]
    assert (incident["kind"], incident["first_step"], incident["last_step"], incident["steps"]) == ("nan", 3, 4, 2)
    assert incident["variables"] == ["encoder/gru/kernel"]
    cause = incident["cause"]
    for field in ("op", "file", "line", "code", "phase", "reason", "fix", "certainty"):
        assert cause[field] == getattr(CAUSE, field)


def test_json_holds_no_nan_even_where_evidence_does(tmp_path, capsys):
    Run(tmp_path).steps([[None, 1.0], [NAN, 1.0]]).close()
    _, out, _ = call(capsys, tmp_path, "--json")
    json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} in the JSON"))


def test_a_cause_unknown_is_null(tmp_path, capsys):
    Run(tmp_path).steps([[1.0, None]]).close()
    _, out, _ = call(capsys, tmp_path, "--json")
    assert json.loads(out)["runs"][0]["incidents"][0]["cause"] is None


def test_exit_code_0_when_all_is_well(tmp_path, capsys):
    healthy(tmp_path / "gradhealth")
    code, out, _ = call(capsys, tmp_path)
    assert code == 0 and "healthy" in out


@pytest.mark.parametrize(
    ("fail_on", "code"),
    [("nan", 1), ("inf,none", 0), ("zero", 0), ("unhealthy", 1), ("watch", 1), ("never", 0), (" nan , zero", 1)],
)
def test_fail_on_chooses_what_fails(logs, capsys, fail_on, code):
    assert call(capsys, logs, "--fail-on", fail_on)[0] == code


def test_a_nan_that_has_passed_fails_too(tmp_path, capsys):
    Run(tmp_path).steps([[1.0, 1.0], [NAN, 1.0], [1.0, 1.0]]).close()
    assert call(capsys, tmp_path)[0] == 1
    assert call(capsys, tmp_path, "--fail-on", "unhealthy")[0] == 0


def test_an_expected_none_does_not_fail(tmp_path, capsys):
    run = Run(tmp_path)
    run.schema.variables[1].expected_none = True
    run._log.schema(run.schema)
    run.steps([[1.0, None]] * 3).close()
    code, out, _ = call(capsys, tmp_path, "--json")
    assert code == 0
    assert json.loads(out)["runs"][0]["variables"][1]["expected_none"] is True


def test_a_threshold_takes_the_place_of_the_one_recorded(tmp_path, capsys):
    Run(tmp_path, thresholds={"zero_steps": 30.0}).steps([[1.0, 1.0]] * 20 + [[1.0, 0.0]] * 20).close()
    assert main(["report", str(tmp_path), "--fail-on", "zero"]) == 0
    assert "with zero_steps = 30" in capsys.readouterr().out
    assert main(["report", str(tmp_path), "--fail-on", "zero", "--threshold", "zero_steps=15"]) == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("zeros=3", "There is no threshold 'zeros'"),
        ("zero_steps", "must be like spike_factor=20. Received: 'zero_steps'"),
        ("zero_steps=-3", "must be greater than 0"),
    ],
)
def test_a_threshold_that_is_none_is_refused_with_what_to_write(logs, capsys, given, said):
    with pytest.raises(SystemExit):
        main(["report", str(logs), "--threshold", given])
    assert said in capsys.readouterr().err.replace("\n", " ")


def test_an_unknown_kind_is_refused_with_the_known_ones(logs, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["report", logs, "--fail-on", "nan,bogus"])
    assert stopped.value.code == 2
    assert "unknown kind 'bogus'; known are nan, inf" in capsys.readouterr().err


def test_exit_code_2_and_a_sentence_when_there_is_no_such_directory(tmp_path, capsys):
    code, out, err = call(capsys, tmp_path / "nowhere")
    assert (code, out) == (2, "")
    assert "There is no log directory" in err and "nowhere" in err


def test_exit_code_2_and_a_sentence_when_nothing_was_recorded(tmp_path, capsys):
    code, out, err = call(capsys, tmp_path)
    assert (code, out) == (2, "")
    assert "has gradient health records" in err and "GradHealthCallback" in err


def test_exit_code_2_when_no_step_was_recorded(tmp_path, capsys):
    Run(tmp_path).close()
    code, out, _ = call(capsys, tmp_path)
    assert code == 2 and "No step has been recorded yet." in out


def test_exit_code_2_for_a_log_of_a_newer_format(tmp_path, capsys):
    healthy(tmp_path / "a")
    run = Run(tmp_path / "b")
    run.schema.format_version = 99
    run._log.schema(run.schema)
    run.close()
    code, out, _ = call(capsys, tmp_path)
    out = " ".join(out.split())
    assert code == 2 and "format 99" in out and "pip install -U tb_gradhealth" in out


def test_run_chooses_by_name_by_pattern_and_by_the_directory_that_the_user_gave(logs, capsys):
    for name in ("well/gradhealth", "w*", "well"):
        code, out, _ = call(capsys, logs, "--run", name, "--json")
        assert code == 0 and [r["run"] for r in json.loads(out)["runs"]] == ["well/gradhealth"]
    code, _, err = call(capsys, logs, "--run", "nope")
    assert code == 2 and "No run matches 'nope'. There are: sick/gradhealth, well/gradhealth" in err


def test_since_leaves_out_what_had_ended_before(tmp_path, capsys):
    Run(tmp_path).steps([[NAN, 1.0]] * 2 + [[1.0, 1.0]] * 8).close()
    assert call(capsys, tmp_path)[0] == 1
    assert call(capsys, tmp_path, "--since", 1)[0] == 1
    code, out, _ = call(capsys, tmp_path, "--since", 2, "--json")
    assert code == 0
    assert json.loads(out)["runs"][0]["verdict"] == "healthy"


def test_a_run_directory_itself_can_be_named(logs, capsys):
    _, out, _ = call(capsys, os.path.join(logs, "sick", "gradhealth"), "--json")
    assert json.loads(out)["runs"][0]["run"] == "."


def test_a_terminal_without_these_characters_gets_ascii(tmp_path, monkeypatch, capsys):
    Run(tmp_path, names=("größe", "b")).steps([[NAN, 1.0]]).close()
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    assert main(["report", str(tmp_path)]) == 1
    text = raw.getvalue().decode("ascii")
    assert "X .: unhealthy" in text and "gr\\xf6\\xdfe" in text


FRESH = """
import sys
from tb_gradhealth.__main__ import main
code = main(sys.argv[1:])
from tb_gradhealth.report import Report
Report(sys.argv[2])._repr_html_()
heavy = [name for name in ("tensorflow", "keras", "tf_keras", "pandas") if name in sys.modules]
sys.exit(f"imported {heavy}" if heavy else code)
"""


def test_no_tensorflow_is_imported(logs):
    done = subprocess.run([sys.executable, "-c", FRESH, "report", logs, "--json"], check=False, **OUTPUT)
    assert done.returncode == 1 and done.stderr == ""
    assert json.loads(done.stdout)["format"] == 1


def test_the_test_for_tensorflow_can_fail(logs):
    blamed = FRESH.replace("import sys\n", "import sys, types\nsys.modules['tensorflow'] = types.ModuleType('t')\n", 1)
    done = subprocess.run([sys.executable, "-c", blamed, "report", logs, "--json"], check=False, **OUTPUT)
    assert "imported ['tensorflow']" in done.stderr


def test_it_runs_as_a_module_and_through_a_closed_pipe(logs):
    done = subprocess.run([sys.executable, "-m", "tb_gradhealth", "report", logs], check=False, **OUTPUT)
    assert done.returncode == 1 and "sick/gradhealth: unhealthy" in done.stdout
    piped = f"{sys.executable} -m tb_gradhealth report {logs} | true"
    closed = subprocess.run(["bash", "-c", piped], check=False, **OUTPUT)
    assert closed.stderr == ""


def test_watch_waits_for_a_run_follows_it_and_ends_with_the_last_exit_code(tmp_path):
    command = [sys.executable, "-m", "tb_gradhealth", "report", str(tmp_path / "logs"), "--watch", "--interval", "0.1"]
    process = subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert "waiting" in process.stderr.readline()
        run = Run(tmp_path / "logs" / "gradhealth").steps([[1.0, 1.0]])
        first = json.loads(process.stdout.readline())
        while first["runs"][0]["verdict"] is None:
            first = json.loads(process.stdout.readline())
        assert first["runs"][0]["verdict"] == "healthy"
        run.steps([[NAN, 1.0]])
        verdict = "healthy"
        while verdict == "healthy":
            verdict = json.loads(process.stdout.readline())["runs"][0]["verdict"]
        assert verdict == "unhealthy"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 1
        run.close()
    finally:
        process.kill()
        process.communicate()


def test_the_large_log_of_another_tool_is_not_read_through(tmp_path, monkeypatch):
    from tensorboard.compat.proto import event_pb2
    from tensorboard.summary.writer.record_writer import RecordWriter

    from tb_gradhealth.format import reader

    healthy(tmp_path / "gradhealth")
    with open(tmp_path / "events.out.tfevents.1.other", "wb") as file:
        writer = RecordWriter(file)
        for step in range(2000):
            event = event_pb2.Event(step=step)
            event.summary.value.add(tag="image", simple_value=1.0)
            writer.write(event.SerializeToString())
    parsed = []
    payloads = reader._payloads
    monkeypatch.setattr(reader, "_payloads", lambda *a: (parsed.append(p) or p for p in payloads(*a)))
    assert reader.find_runs(str(tmp_path)) == ["gradhealth"]
    assert 0 < len(parsed) < 100
