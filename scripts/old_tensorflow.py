"""Tests what leans on TensorFlow with another version of it, in an environment of its own below `.venvs`.

    python3 scripts/dev.py test-tensorflow 2.16 [arguments for pytest]

Without arguments it runs the format, the statistics, the roads of recording that differ between versions, all
explanations, and the check that every private name of TensorFlow is where `explain/private.py` looks for it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("2.16", "2.17", "2.18", "2.19", "2.20", "2.21")
OLD_PYTHON = ("2.16", "2.17", "2.18", "2.19")
"""These have no wheels for Python 3.13."""

TOOLS = ("pytest==9.2.0", "pytest-timeout==2.4.0", "pytest-xdist==3.8.0", "hypothesis==6.170.17", "setuptools<81")
TESTS = (
    "tests/format",
    "tests/record/test_statistics.py",
    "tests/record/test_public_names.py",
    "tests/record/test_v1.py",
    "tests/record/test_writer.py",
    "tests/explain",
    "tests/explain_nonfinite",
)
ROOM_GB = 3


class SetUpError(RuntimeError):
    """The environment cannot be made; the message says what to do."""


def requirements(version: str, python: tuple[int, int] = sys.version_info[:2]) -> tuple[str, ...]:
    """What pip is asked for.

    Raises:
      SetUpError: that TensorFlow is not supported, or not with this Python.
    """
    if version not in VERSIONS:
        raise SetUpError(
            f"VERSION is one of {', '.join(VERSIONS)}. Received: {version!r}. Write: make test-tensorflow VERSION=2.16"
        )
    if version in OLD_PYTHON and python > (3, 12):
        raise SetUpError(
            f"TensorFlow {version} runs on Python 3.12 or older. Received: Python {python[0]}.{python[1]}. "
            f"Name another one: make test-tensorflow VERSION={version} PYTHON=python3.12"
        )
    return (f"tensorflow=={version}.*", f"tf_keras=={version}.*", f"tensorboard=={version}.*", *TOOLS)


def prepare(version: str) -> Path:
    """The interpreter of the environment, made on first use."""
    wanted = requirements(version)
    folder = ROOT / ".venvs" / f"tensorflow-{version}"
    python, stamp = folder / "bin" / "python", folder / ".installed"
    if not (stamp.is_file() and stamp.read_text() == "\n".join(wanted)):
        print(f"==> Installing TensorFlow {version} in {folder.relative_to(ROOT)} (about {ROOM_GB} GB)", flush=True)
        commands = (
            [sys.executable, "-m", "venv", str(folder)],
            [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check", *wanted],
        )
        for command in commands:
            if subprocess.run(command, check=False).returncode:
                raise SetUpError("The environment could not be made; the message is above.")
        stamp.write_text("\n".join(wanted))
    return python


def main(arguments: list[str]) -> int:
    """Makes the environment and runs the tests; returns pytest's exit code."""
    version, rest = (arguments or [""])[0], arguments[1:]
    python = prepare(version)
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="2", PYTHONUNBUFFERED="1", PYTHONPATH=str(ROOT))
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *(rest or TESTS)]
    return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode
