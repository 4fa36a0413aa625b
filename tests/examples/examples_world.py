"""Runs the programs of `examples/`, and asks the report and TensorBoard what they say about them."""

import dataclasses
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True)
class Situation:
    """One program with its arguments, and what is true of it.

    Attributes:
      name: the run's name below the log directory.
      command: the program and its arguments.
      states: `{regular expression: state}`; every variable matches exactly one.
      raises: what the program's output holds when Keras ends the training; then the exit code is 1.
      line: text of the source line to blame, in the program itself; "" where none is.
    """

    name: str
    command: tuple[str, ...]
    states: dict[str, str]
    raises: str = ""
    line: str = ""

    @property
    def program(self) -> Path:
        return ROOT / "examples" / self.command[0]

    def state_of(self, variable: str) -> str:
        """What is true of this variable."""
        found = [state for pattern, state in self.states.items() if re.search(pattern, variable)]
        assert len(found) == 1, f"{self.name}: {variable!r} matches {len(found)} patterns"
        return found[0]


ALL_OK = {".": "ok"}
ALL_NONE = {".": "none"}
NO_GRADIENTS = "No gradients provided for any variable"

FAULTY = (
    Situation(
        "seq2seq_gru",
        ("seq2seq_gru.py", "--steps", "12"),
        {r"^encoder/": "nan", r"^decoder/": "ok"},
    ),
    Situation(
        "vae_recurrent_decoder",
        ("vae_recurrent_decoder.py", "--steps", "30"),
        {r"decoder_": "none", r"encoder_": "ok"},
        line="self.canvas[:, t].assign(row)",
    ),
    Situation(
        "audio_gru", ("audio_gru.py", "--steps", "8"), ALL_NONE, line='return np.array(outputs, dtype="float32")'
    ),
    Situation(
        "audio_gru_state_variable",
        ("audio_gru.py", "--state-variable", "--steps", "8"),
        {r"amp_cell": "none", r"amp_head": "ok"},
        line="self.stored_state.assign(new_state)",
    ),
    Situation("tf1_gru", ("tf1_gru.py",), {".": "nan"}, line="tf.sqrt(tf.math.squared_difference(guess, values))"),
    Situation(
        "feedback_keras2",
        ("feedback_autoencoder.py", "--keras", "2"),
        ALL_NONE,
        raises=NO_GRADIENTS,
        line="decoded.write(t, row)",
    ),
    Situation(
        "feedback_keras3",
        ("feedback_autoencoder.py", "--keras", "3", "--fault", "write"),
        ALL_NONE,
        raises=NO_GRADIENTS,
        line="decoded.write(t, row)",
    ),
)

MENDED = (
    Situation("seq2seq_gru_fixed", ("seq2seq_gru.py", "--fixed", "--steps", "12"), ALL_OK),
    Situation("vae_recurrent_decoder_fixed", ("vae_recurrent_decoder.py", "--fixed", "--steps", "60"), ALL_OK),
    Situation("audio_gru_fixed", ("audio_gru.py", "--fixed", "--steps", "12"), ALL_OK),
    Situation("tf1_gru_fixed", ("tf1_gru.py", "--fixed"), ALL_OK),
    Situation("feedback_keras2_fixed", ("feedback_autoencoder.py", "--keras", "2", "--fixed", "--steps", "60"), ALL_OK),
    Situation("feedback_keras3_fixed", ("feedback_autoencoder.py", "--keras", "3", "--fixed", "--steps", "60"), ALL_OK),
)


def run(command: tuple[str, ...], log_dir: Path) -> subprocess.CompletedProcess[str]:
    """One program in a process of its own, started in a folder that is not the project's."""
    program, *arguments = command
    return subprocess.run(
        [sys.executable, str(ROOT / "examples" / program), *arguments, "--log-dir", str(log_dir)],
        cwd=log_dir.parent,
        env=dict(os.environ, TF_CPP_MIN_LOG_LEVEL="2"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        check=False,
    )


def report(logdir: Path) -> dict[str, dict]:
    """What `tb-gradhealth report --json` says, by run, without the `/gradhealth` at the end of its name."""
    done = subprocess.run(
        [sys.executable, "-m", "tb_gradhealth", "report", str(logdir), "--json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return {run["run"].removesuffix("/gradhealth"): run for run in json.loads(done.stdout)["runs"]}


class TensorBoard:
    """A TensorBoard on a log directory, with the Rust (`load_fast="true"`) or the Python loader (`"false"`)."""

    def __init__(self, logdir: Path, load_fast: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._output = logdir.parent / f"tensorboard_{load_fast}.txt"
        command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir), "--port", str(self.port)]
        with open(self._output, "w") as output:
            self._process = subprocess.Popen(
                [*command, "--load_fast", load_fast, "--reload_interval", "1"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def get(self, route: str, **arguments: object) -> dict:
        """The JSON answer of one of the plugin's routes; waits until TensorBoard answers it.

        Raises:
          AssertionError: there was no answer in a minute; with TensorBoard's own output.
        """
        url = f"{self.url}/data/plugin/gradhealth/{route}?{urllib.parse.urlencode(arguments)}"
        why: object = None
        for _ in range(240):
            try:
                with urllib.request.urlopen(url, timeout=30) as answer:
                    return json.load(answer)
            except urllib.error.URLError as error:
                why = error
                time.sleep(0.25)
        raise AssertionError(f"{url}: {why}\n{self._output.read_text()}")

    def wait_for_runs(self, count: int) -> list[dict]:
        """The runs with our data, when all of them have been loaded."""
        for _ in range(240):
            runs = [run for run in self.get("runs")["runs"] if run["has_data"]]
            if len(runs) >= count and all(run["last_step"] is not None for run in runs):
                return runs
            time.sleep(0.25)
        raise AssertionError(f"only {runs} of {count} runs were loaded in a minute")

    def close(self) -> None:
        """Ends it."""
        self._process.terminate()
        self._process.wait()
