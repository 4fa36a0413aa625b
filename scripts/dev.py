"""Sets up and runs what a developer needs: `make` calls this, and so does CI where there is no `make`.

    python3 scripts/dev.py setup | check | test | test-tensorflow | demo | screenshots | proto | clean    [arguments]

Needs Python 3.11 or newer with `venv`, and nothing else: every command first brings `.venv` up to date, installs what
is pinned in `requirements/dev.txt`, builds the dashboard and, for the tests, installs Chromium. What is there already
is used as it is. Only the standard library is imported here.
"""

from __future__ import annotations  # for a Python that is too old to be told so

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
REQUIREMENTS = ROOT / "requirements" / "dev.txt"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class SetUpError(RuntimeError):
    """Something is missing that cannot be installed from here; the message says what to do."""


def say(text: str) -> None:
    """One progress line."""
    print(f"==> {text}", flush=True)


def run(*command: object, hint: str = "", **kwargs: object) -> None:
    """Runs a command in the project's folder.

    Raises:
      SetUpError: it failed, and there is a hint as to why.
    """
    done = subprocess.run([str(part) for part in command], cwd=ROOT, check=False, **kwargs)
    if done.returncode:
        if hint:
            raise SetUpError(hint)
        sys.exit(done.returncode)


def make_venv() -> None:
    """Creates `.venv` with pip in it, unless it is there and works."""
    if sys.version_info < (3, 11):
        raise SetUpError(
            f"Development needs Python 3.11 or newer, this is {sys.version.split()[0]} ({sys.executable}).\n"
            "Install a newer one and say which: make PYTHON=python3.12 …"
        )
    usable = [PYTHON, "-c", "import pip"]
    if PYTHON.exists() and subprocess.run(usable, capture_output=True, check=False).returncode == 0:
        return
    say(f"Creating {VENV.name} with Python {sys.version.split()[0]}")
    shutil.rmtree(VENV, ignore_errors=True)
    made = subprocess.run([sys.executable, "-m", "venv", VENV], capture_output=True, text=True, check=False)
    if made.returncode:
        shutil.rmtree(VENV, ignore_errors=True)
        raise SetUpError(
            f"{made.stdout}{made.stderr}\nA virtual environment could not be made. On Debian and Ubuntu the module "
            "venv is a package of its own. Run:\n    apt-get install python3-venv"
        )


def install_requirements() -> None:
    """Installs the pinned versions and the project itself, in place, unless that was done with these very files."""
    stamp = VENV / ".installed"
    parts = (REQUIREMENTS, ROOT / "pyproject.toml", ROOT / "setup.py", ROOT / "scripts" / "build_frontend.py")
    wanted = hashlib.sha256(b"".join(p.read_bytes() for p in parts)).hexdigest()
    if not (stamp.is_file() and stamp.read_text() == wanted):
        say("Installing TensorFlow, TensorBoard and the tools (the first time a download of some 700 MB)")
        pip = (PYTHON, "-m", "pip", "install", "-qq", "--disable-pip-version-check")
        hint = (
            "pip could not install what is pinned in requirements/dev.txt; its message is above.\nIf it says that a "
            "host cannot be reached: this needs a network to the Python package index. Behind a proxy set HTTPS_PROXY; "
            "for a mirror set PIP_INDEX_URL.\n"
            "If it finds no matching version: the pins are for Python 3.11 to 3.13 on Linux."
        )
        run(*pip, "-r", REQUIREMENTS, hint=hint)
        build_dashboard()
        run(*pip, "--no-build-isolation", "--no-deps", "-e", ".", hint="The project itself could not be installed.")
        stamp.write_text(wanted)
    build_dashboard()


def build_dashboard() -> None:
    """Builds the page, if its sources changed; the program says itself what it does and what is missing."""
    run(PYTHON, "scripts/build_frontend.py", hint="The dashboard could not be built; the reason is above.")


def find_browser() -> str | None:
    """The Chromium on this machine, or None."""
    return next((path for path in map(shutil.which, BROWSERS) if path), None)


def install_browser() -> None:
    """Installs Debian's Chromium for the browser tests and the screenshots, unless there is one."""
    if find_browser():
        return
    apt = shutil.which("apt-get")
    wish = "The browser tests need Chromium (or Chrome) on the PATH."
    if apt is None:
        raise SetUpError(f"{wish} Install it with this system's package manager.")
    rights = [] if os.geteuid() == 0 else ["sudo", "-n"]
    sudo = shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    if rights and (not sudo or sudo.returncode):
        raise SetUpError(f"{wish} Installing it needs root. Run:\n    sudo apt-get install chromium")
    say("Installing Chromium with apt-get, for the browser tests")
    hint = f"{wish} apt-get could not install it; its message is above. Without a network, copy the package here."
    env = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    install = (*rights, apt, "-qq", "-y", "install", "--no-install-recommends", "chromium", "fonts-dejavu-core")
    run(*rights, apt, "-qq", "update", env=env, hint=hint)
    run(*install, env=env, hint=hint, stdout=subprocess.DEVNULL)


def set_up(*, browser: bool = False) -> None:
    """Everything that is needed, in place."""
    make_venv()
    install_requirements()
    if browser:
        install_browser()


def check() -> None:
    """Linters, formats and types, of Python and of the dashboard."""
    set_up()
    say("ruff")
    run(PYTHON, "-m", "ruff", "check", ".")
    run(PYTHON, "-m", "ruff", "format", "--check", ".")
    say("mypy")
    run(PYTHON, "-m", "mypy")
    say("tsc, biome, layers")
    run(PYTHON, "scripts/build_frontend.py", "npm", "run", "check")


def test(arguments: list[str]) -> None:
    """All tests: the dashboard's units, then pytest, whose closing line is the last."""
    set_up(browser=True)
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="2", PYTHONUNBUFFERED="1")
    if not arguments:
        say("vitest")
        run(PYTHON, "scripts/build_frontend.py", "npm", "test")
    say("pytest")
    # In the order of the files: `watch` stays on until the process ends, and tests/explain runs without it.
    everything = ["-q", "--durations=15", "-n", "2", "--no-loadscope-reorder"]
    run(PYTHON, "-m", "pytest", *(arguments or everything), env=env)


def test_tensorflow(arguments: list[str]) -> int:
    """The tests that lean on TensorFlow, with another version of it."""
    sys.path.insert(0, str(ROOT))
    from scripts import old_tensorflow

    try:
        return old_tensorflow.main(arguments)
    except old_tensorflow.SetUpError as error:
        raise SetUpError(str(error)) from None


def proto() -> None:
    """Generates the protobuf code anew, with the version whose output every supported runtime can import."""
    tools = ROOT / ".venvs" / "proto"
    python = tools / "bin" / "python"
    if not python.exists():
        say("Installing grpcio-tools")
        run(sys.executable, "-m", "venv", tools)
        pip = (python, "-m", "pip", "install", "-qq")
        run(*pip, "grpcio-tools==1.62.3", "setuptools<81", hint="pip could not install grpcio-tools; see above.")
    path = "tb_gradhealth/format/gradhealth.proto"
    run(python, "-m", "grpc_tools.protoc", "-I.", "--python_out=.", "--pyi_out=.", path)
    say(f"Generated from {path}")


def main(arguments: list[str]) -> int:
    """The command line; returns the exit code."""
    verb, rest = (arguments or ["help"])[0], arguments[1:]
    started = time.monotonic()
    try:
        if verb == "setup":
            set_up(browser=True)
        elif verb == "check":
            check()
        elif verb == "test":
            test(rest)
        elif verb == "test-tensorflow":
            return test_tensorflow(rest)
        elif verb == "demo":
            set_up()
            os.execv(PYTHON, [str(PYTHON), "-m", "demo", *rest])
        elif verb == "screenshots":
            set_up(browser=True)
            run(PYTHON, "-m", "demo", "--no-serve")
            run(PYTHON, "-m", "demo.screenshots", *rest)
            run(PYTHON, "-m", "demo.readme")
        elif verb == "proto":
            proto()
        else:
            print(__doc__)
            return 2
    except SetUpError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    say(f"{verb}: done in {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
