"""TensorBoards as processes of their own, for the browser to open."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

LOADERS = {"rust": "--load_fast=true", "python": "--load_fast=false"}
START_SECONDS = 90


def loaders() -> list[Any]:
    """Both loaders; the fast one only where it exists for this machine."""
    import tensorboard_data_server

    there = tensorboard_data_server.server_binary() is not None
    missing = pytest.mark.skipif(not there, reason="TensorBoard has no fast loader for this machine")
    return [pytest.param("rust", marks=missing), "python"]


class Board:
    """A running TensorBoard that has loaded its log directory once.

    Args:
      logdir: the log directory; or None, and the flags say where the logs are.
      loader: one of `LOADERS`.
      flags: more flags.
      runs: how many runs it must know before it counts as started.
      prefix: the path that `--path_prefix` puts before every address.
    """

    def __init__(
        self,
        logdir: Path | None,
        loader: str = "python",
        flags: tuple[str, ...] = (),
        *,
        runs: int = 1,
        prefix: str = "",
        port: int = 0,
    ) -> None:
        where = () if logdir is None else ("--logdir", str(logdir))
        command = [sys.executable, "-m", "tensorboard.main", *where, LOADERS[loader], "--reload_interval", "1"]
        self._process = subprocess.Popen(
            [*command, "--port", str(port), "--host", "localhost", *flags],
            env=dict(os.environ, TF_CPP_MIN_LOG_LEVEL="2"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._lines: list[str] = []
        self._said = threading.Thread(target=self._listen, daemon=True)
        self._said.start()
        self.url = self._address().removesuffix("/").removesuffix(prefix) + prefix
        self._wait_for(runs)

    def _listen(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._lines.append(line)

    def _address(self) -> str:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self._process.poll() is None:
            for line in list(self._lines):
                found = re.search(r"TensorBoard \S+ at (http://\S+)", line)
                if found:
                    return found[1]
            time.sleep(0.1)
        raise AssertionError("TensorBoard did not start:\n" + "".join(self._lines[-20:]))

    def _wait_for(self, runs: int) -> None:
        end = time.monotonic() + START_SECONDS
        known: list[Any] = []
        while time.monotonic() < end:
            known = self.json("runs")["runs"]
            if len(known) >= runs:
                return
            time.sleep(0.2)
        raise AssertionError(f"TensorBoard knows {len(known)} of {runs} runs:\n" + "".join(self._lines[-20:]))

    def json(self, route: str) -> Any:
        with urllib.request.urlopen(f"{self.url}/data/plugin/gradhealth/{route}", timeout=60) as answer:
            return json.load(answer)

    @property
    def port(self) -> int:
        found = re.search(r":(\d+)", self.url.removeprefix("http://"))
        assert found
        return int(found[1])

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._said.join(5)
        assert self._process.stderr is not None
        self._process.stderr.close()
