"""The five situations, trained for real, as a person sees them: the ill variables and their first steps."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from browser_boards import Board, loaders
from playwright.sync_api import expect
from tab import Tab

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

# Name of the run: the program, its arguments, what the ill variables are called, their state, and how many there are.
SITUATIONS = {
    "seq2seq": (("seq2seq_gru.py", "--steps", "12"), "encoder/", "NaN"),
    "vae": (("vae_recurrent_decoder.py", "--steps", "30"), "decoder_", "None"),
    "audio": (("audio_gru.py", "--steps", "8"), "", "None"),
    "audio_state": (("audio_gru.py", "--state-variable", "--steps", "8"), "amp_cell", "None"),
    "tf1": (("tf1_gru.py",), "", "NaN"),
    "feedback_keras2": (("feedback_autoencoder.py", "--keras", "2"), "", "None"),
    "feedback_keras3": (("feedback_autoencoder.py", "--keras", "3", "--fault", "write"), "", "None"),
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The log directory of all situations. Two of the programs end with Keras's own error: that is the situation."""
    root = tmp_path_factory.mktemp("situations")
    for name, ((program, *arguments), _, _) in SITUATIONS.items():
        done = subprocess.run(
            [sys.executable, str(EXAMPLES / program), *arguments, "--log-dir", str(root / name)],
            env=dict(os.environ, TF_CPP_MIN_LOG_LEVEL="2"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0 or "No gradients provided for any variable" in done.stdout + done.stderr, (
            done.stderr
        )
    return root


@pytest.fixture(scope="module", params=loaders())
def situations(request, trained):
    board = Board(trained, request.param, runs=len(SITUATIONS))
    yield board
    board.stop()


@pytest.mark.slow
@pytest.mark.parametrize("name", SITUATIONS)
def test_the_page_names_the_ill_variables_and_since_when(page, situations, name):
    _, part, state = SITUATIONS[name]
    answer = situations.json(f"run?run={name}/gradhealth")
    variables = [v for group in answer["groups"] for v in group["variables"]]
    ill = [v for v in variables if part in v["name"]]
    assert ill
    tab = Tab(page, situations).run(name)
    expect(tab.verdict).to_contain_text("Unhealthy")
    tab.frame.get_by_title(f"Show only {state}", exact=True).click()
    shown = {n for n in tab.names() if n in {v["name"] for v in variables}}
    assert shown == {v["name"] for v in ill}
    for variable in ill:
        expect(tab.row(variable["name"])).to_contain_text(f"since step {variable['since']}")
        assert variable["since"] == (0 if name != "tf1" else answer["incidents"][0]["first_step"])
    tab.shot(f"situation_{name}")
