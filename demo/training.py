"""Trains the demo's runs, two at a time, each in a process of its own; a run that is complete is not trained again.

What a program prints goes to `<name>.txt` beside its run. A run that was broken off, or whose program has changed, is
removed and trained anew.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from demo.runs import LOGS, ROOT, Run

AT_ONCE = 2
DONE = ".complete"  # in a run's folder: holds the run's key


class TrainingError(RuntimeError):
    """A program did not end as it should; the message shows the end of what it printed."""


def is_complete(run: Run) -> bool:
    """Whether the log of just this training is there."""
    done = run.log_dir / DONE
    return done.is_file() and done.read_text() == run.key


def output_of(run: Run) -> Path:
    """Where the run's output goes: beside the run, where TensorBoard looks for nothing."""
    return LOGS / f"{run.name}.txt"


def start(run: Run) -> subprocess.Popen[bytes]:
    """Starts one training, its old log removed."""
    shutil.rmtree(run.log_dir, ignore_errors=True)
    LOGS.mkdir(exist_ok=True)
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="2", PYTHONUNBUFFERED="1")
    command = [sys.executable, str(run.program), *run.arguments, "--log-dir", str(run.log_dir)]
    with open(output_of(run), "wb") as output:
        return subprocess.Popen(
            command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )


def finish(run: Run, code: int) -> None:
    """Marks the run as complete, if it ended as it should.

    Raises:
      TrainingError: it did not.
    """
    text = output_of(run).read_text(errors="replace")
    as_expected = run.raises in text and code != 0 if run.raises else code == 0
    if not as_expected:
        end = "\n".join(text.splitlines()[-15:])
        raise TrainingError(f"{run.name} ended with code {code}. The end of {output_of(run)}:\n\n{end}")
    (run.log_dir / DONE).write_text(run.key)


def last_line(run: Run) -> str:
    """The newest progress line of a training, or ""."""
    lines = output_of(run).read_text(errors="replace").replace("\r", "\n").splitlines()
    return next((line.strip() for line in reversed(lines) if line.startswith(("step", "Epoch"))), "")


def train(runs: Sequence[Run], *, again: bool = False) -> int:
    """Trains the runs that are not complete, all of them if `again`; returns how many were trained.

    Raises:
      TrainingError: a program did not end as it should; the others are stopped.
    """
    waiting = [run for run in runs if again or not is_complete(run)]
    total, done, began = len(waiting), 0, time.monotonic()
    running: dict[Run, subprocess.Popen[bytes]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < AT_ONCE:
                run = waiting.pop(0)
                running[run] = start(run)
            for run, process in list(running.items()):
                if process.poll() is not None:
                    del running[run]
                    finish(run, process.returncode)
                    done += 1
                    ends = "Keras raised, as it should" if run.raises else last_line(run)
                    _line(f"[{done}/{total}] {run.name}: {ends}", final=True)
            if running:
                now = "   ".join(f"{run.name} {last_line(run)}".strip() for run in running)
                _line(f"[{done}/{total}] {time.monotonic() - began:3.0f} s   {now}")
                time.sleep(0.5)
    finally:
        for process in running.values():
            process.terminate()
        for process in running.values():
            process.wait()
    return total


def _line(text: str, *, final: bool = False) -> None:
    """A progress line that is overwritten by the next, unless `final`; where there is no terminal, only final ones."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns - 1
        print("\r\033[K" + (text if final else text[:width]), end="\n" if final else "", flush=True)
    elif final:
        print(text, flush=True)
