"""Real TensorBoards, as processes of their own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LOADERS = {"rust": "--load_fast=true", "python": "--load_fast=false"}
_START_SECONDS = 90
_LOAD_SECONDS = 60


def has_data_server() -> bool:
    """Whether TensorBoard's fast loader exists for this machine."""
    try:
        import tensorboard_data_server
    except ImportError:
        return False
    return tensorboard_data_server.server_binary() is not None


class Board:
    """A running TensorBoard.

    Attributes:
      url: without a slash at the end.
      pid: of the process.
    """

    def __init__(self, url: str, pid: int) -> None:
        self.url = url
        self.pid = pid

    def get(self, route: str, **query: Any) -> tuple[int, bytes]:
        """Status and body of a route of ours."""
        return self.fetch(f"/data/plugin/gradhealth/{route}?{urllib.parse.urlencode(query)}")

    def fetch(self, path: str) -> tuple[int, bytes]:
        try:
            with urllib.request.urlopen(self.url + path, timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    def json(self, route: str, **query: Any) -> Any:
        status, body = self.get(route, **query)
        assert status == 200, (route, query, status, body[:500])
        return json.loads(body)

    def wait_for(self, condition: Any, what: str) -> Any:
        """Asks until the condition holds, and gives what it gave."""
        deadline = time.monotonic() + _LOAD_SECONDS
        while time.monotonic() < deadline:
            if found := condition(self):
                return found
            time.sleep(0.2)
        raise AssertionError(f"TensorBoard never showed {what}: {self.get('runs')[1].decode()}")

    def children(self) -> list[int]:
        """Processes that this one started."""
        return [int(p) for p in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()]


@contextlib.contextmanager
def tensorboard(loader: str, *flags: str, environment: dict[str, str] | None = None) -> Iterator[Board]:
    """Runs a TensorBoard until the end of the block."""
    command = [
        sys.executable, "-m", "tensorboard.main", "--host=127.0.0.1", "--port=0", "--reload_interval=1",
        LOADERS[loader], *flags,
    ]  # fmt: skip
    env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", "CUDA_VISIBLE_DEVICES": "", **(environment or {})}
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env
    )
    try:
        yield Board(_address(process), process.pid)
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stderr is not None
        process.stderr.close()


def _address(process: subprocess.Popen[str]) -> str:
    """The address that TensorBoard prints, and then keeps its other messages from filling the pipe."""
    assert process.stderr is not None
    lines: list[str] = []
    found: list[str] = []
    ready = threading.Event()
    stderr = process.stderr

    def listen() -> None:
        with contextlib.suppress(ValueError, OSError):
            for line in stderr:
                lines.append(line)
                match = re.search(r"TensorBoard \S+ at (http://\S+?)/? ", line)
                if match and not found:
                    found.append(match[1])
                    ready.set()
        ready.set()

    threading.Thread(target=listen, daemon=True).start()
    if not ready.wait(_START_SECONDS) or not found:
        raise AssertionError("TensorBoard did not start:\n" + "".join(lines[-40:]))
    return found[0]
