"""What `make` says when the machine lacks something. Nothing is installed here."""

import subprocess
import sys
import types

import pytest
from layers import ROOT

sys.path.insert(0, str(ROOT))
from scripts import dev, old_tensorflow


@pytest.fixture
def calls(monkeypatch):
    """Every command that would be run, as a string; `answers` maps the start of one to its exit code."""
    made, answers = [], {}

    def run(command, **kwargs):
        made.append(" ".join(str(part) for part in command))
        code = next((code for start, code in answers.items() if made[-1].startswith(start)), 0)
        return subprocess.CompletedProcess(command, code, "", "the command's own words\n")

    monkeypatch.setattr(dev.subprocess, "run", run)
    return types.SimpleNamespace(made=made, answers=answers)


def machine(monkeypatch, *, user, has):
    monkeypatch.setattr(dev.os, "geteuid", lambda: user)
    monkeypatch.setattr(dev.shutil, "which", lambda name: f"/bin/{name}" if name in has else None)


def test_a_browser_that_is_there_is_used(monkeypatch, calls):
    machine(monkeypatch, user=1000, has={"google-chrome"})
    dev.install_browser()
    assert calls.made == []


def test_root_installs_chromium(monkeypatch, calls):
    machine(monkeypatch, user=0, has={"apt-get"})
    dev.install_browser()
    assert [call.startswith("/bin/apt-get") for call in calls.made] == [True, True]
    assert "chromium" in calls.made[1]


def test_a_user_who_may_sudo_installs_chromium(monkeypatch, calls):
    machine(monkeypatch, user=1000, has={"apt-get", "sudo"})
    dev.install_browser()
    assert calls.made[-1].startswith("sudo -n /bin/apt-get")


@pytest.mark.parametrize("has", [{"apt-get"}, {"apt-get", "sudo"}])
def test_without_rights_it_says_what_to_run(monkeypatch, calls, has):
    machine(monkeypatch, user=1000, has=has)
    calls.answers["sudo -n true"] = 1
    with pytest.raises(dev.SetUpError, match=r"(?s)needs root. Run:\n +sudo apt-get install chromium"):
        dev.install_browser()
    assert not [call for call in calls.made if "install" in call]


def test_without_apt_it_says_so(monkeypatch, calls):
    machine(monkeypatch, user=0, has=set())
    with pytest.raises(dev.SetUpError, match="this system's package manager"):
        dev.install_browser()


def test_without_a_network_apt_says_what_was_wanted(monkeypatch, calls):
    machine(monkeypatch, user=0, has={"apt-get"})
    calls.answers["/bin/apt-get -qq update"] = 100
    with pytest.raises(dev.SetUpError, match="apt-get could not install it"):
        dev.install_browser()


def test_a_missing_venv_module_names_the_package(monkeypatch, calls, tmp_path):
    monkeypatch.setattr(dev, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(dev, "PYTHON", tmp_path / ".venv" / "bin" / "python")
    calls.answers[f"{sys.executable} -m venv"] = 1
    with pytest.raises(dev.SetUpError, match=r"(?s)the command's own words.*apt-get install python3-venv"):
        dev.make_venv()


def test_an_old_python_is_refused(monkeypatch):
    monkeypatch.setattr(
        dev, "sys", types.SimpleNamespace(version_info=(3, 9), version="3.9.2 (default)", executable="/bin/python3")
    )
    with pytest.raises(dev.SetUpError, match=r"(?s)Python 3\.11 or newer, this is 3\.9\.2.*make PYTHON="):
        dev.make_venv()


def test_a_failing_pip_says_what_it_needs_and_is_tried_again(monkeypatch, calls, tmp_path):
    monkeypatch.setattr(dev, "VENV", tmp_path)
    monkeypatch.setattr(dev, "PYTHON", "python")
    calls.answers["python -m pip install"] = 1
    for _ in range(2):
        with pytest.raises(dev.SetUpError, match="network to the Python package index"):
            dev.install_requirements()
    calls.answers.clear()
    calls.made.clear()
    dev.install_requirements()
    assert len([call for call in calls.made if "pip install" in call]) == 2
    calls.made.clear()
    dev.install_requirements()
    assert calls.made == ["python scripts/build_frontend.py"], "a second call installs nothing"


def test_an_unknown_word_prints_the_help(capsys):
    assert dev.main(["dance"]) == 2
    assert "setup | check | test" in capsys.readouterr().out


def test_another_tensorflow_is_pinned_and_goes_into_a_folder_of_its_own():
    wanted = old_tensorflow.requirements("2.16", (3, 11))
    assert {"tensorflow==2.16.*", "tf_keras==2.16.*", "tensorboard==2.16.*"} <= set(wanted)
    assert all((ROOT / test).exists() for test in old_tensorflow.TESTS)


@pytest.mark.parametrize(
    ("version", "python", "says"),
    [("3.0", (3, 11), "VERSION is one of 2.16"), ("2.18", (3, 13), "Python 3.12 or older. Received: Python 3.13")],
)
def test_a_tensorflow_that_cannot_be_had_is_refused_with_what_to_write(version, python, says):
    with pytest.raises(old_tensorflow.SetUpError, match=says):
        old_tensorflow.requirements(version, python)
