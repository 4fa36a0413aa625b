"""Serves the demo's logs with TensorBoard until Ctrl-C."""

import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

FIRST_PORT, LAST_PORT = 6006, 6036
START_SECONDS = 60


class ServeError(RuntimeError):
    """TensorBoard cannot be served; the message says what to do."""


def is_free(port: int) -> bool:
    """Whether this machine's `port` can be listened on."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("localhost", port))
        except OSError:
            return False
        return True


def free_port(wanted: int | None) -> int:
    """The wanted port, or without a wish the first free one from 6006 on.

    Raises:
      ServeError: the wanted port, or every one of that range, is taken.
    """
    if wanted is not None:
        if not 1 <= wanted <= 65535:
            raise ServeError(f"A port is a number from 1 to 65535. Received: --port {wanted}.")
        if not is_free(wanted):
            raise ServeError(
                f"Port {wanted} is taken by another program, perhaps a TensorBoard that still runs.\n"
                "Stop it, choose another one, or leave out --port: then the first free one from 6006 on is taken."
            )
        return wanted
    for port in range(FIRST_PORT, LAST_PORT + 1):
        if is_free(port):
            if port != FIRST_PORT:
                print(f"Port {FIRST_PORT} is taken, TensorBoard will use {port}.", flush=True)
            return port
    raise ServeError(f"The ports {FIRST_PORT} to {LAST_PORT} are all taken. Choose another one with --port.")


def start(logs: Path, port: int, *flags: str) -> subprocess.Popen[bytes]:
    """Starts TensorBoard and returns when it answers. What it prints goes to `tensorboard.txt` in `logs`.

    Raises:
      ServeError: it ended, or did not answer in a minute.
    """
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(logs), "--port", str(port), *flags]
    printed = logs / "tensorboard.txt"
    with open(printed, "wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
    url = f"http://localhost:{port}/data/environment"
    try:
        for _ in range(START_SECONDS * 4):
            if process.poll() is not None:
                end = "\n".join(printed.read_text(errors="replace").splitlines()[-15:])
                raise ServeError(f"TensorBoard ended with code {process.returncode}. The end of {printed}:\n\n{end}")
            try:
                with urllib.request.urlopen(url, timeout=5):
                    return process
            except (urllib.error.URLError, OSError):
                time.sleep(0.25)
        raise ServeError(f"TensorBoard did not answer on port {port} within {START_SECONDS} s; see {printed}.")
    except BaseException:
        process.terminate()
        process.wait()
        raise


def tensorboard(logs: Path, port: int) -> int:
    """Serves `logs` until Ctrl-C or a TERM signal; returns the exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    print("Starting TensorBoard …", flush=True)
    process = start(logs, port)
    print(f"\n    Grad Health:  http://localhost:{port}/#gradhealth\n\nCtrl-C ends TensorBoard.", flush=True)
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        print("\nTensorBoard ended. The logs stay; make demo shows them again.")
        return 0
