"""A real TensorBoard, its memory, and a clock on its answers, for `dashboard.py`."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Board:
    """A running TensorBoard.

    Attributes:
      url: without a slash at the end.
      pid: of TensorBoard's own process.
    """

    def __init__(self, url: str, pid: int) -> None:
        self.url = url
        self.pid = pid

    def get(self, route: str, **query: Any) -> tuple[bytes, float]:
        """The body of an answer of the plugin, and how many seconds it took to arrive."""
        address = f"{self.url}/data/plugin/gradhealth/{route}?{urllib.parse.urlencode(query)}"
        begin = time.perf_counter()
        with urllib.request.urlopen(address, timeout=600) as answer:
            body = answer.read()
        return body, time.perf_counter() - begin

    def json(self, route: str, **query: Any) -> Any:
        return json.loads(self.get(route, **query)[0])

    def wait_for_step(self, run: str, step: int) -> float:
        """Waits until TensorBoard has loaded a run up to that step. Returns how many seconds that took."""
        begin = time.monotonic()
        while time.monotonic() - begin < 600:
            if {r["run"]: r["last_step"] for r in self.json("runs")["runs"]}.get(run) == step:
                return time.monotonic() - begin
            time.sleep(0.1)
        raise TimeoutError(f"TensorBoard has not loaded {run} up to step {step} within 600 s.")

    def wait_for_scalars(self, tags: int) -> None:
        """Waits until TensorBoard has loaded so many scalar series and does not find new data any more."""
        latest, begin = "", time.monotonic()
        while time.monotonic() - begin < 600:
            with urllib.request.urlopen(f"{self.url}/data/plugin/timeseries/tags", timeout=600) as answer:
                body = answer.read().decode()
            series = json.loads(body)["scalars"]["runTagInfo"]
            now = f"{sum(map(len, series.values()))} {self.memory()}"
            if sum(map(len, series.values())) >= tags and now == latest:
                return
            latest = now
            time.sleep(3)
        raise TimeoutError(f"TensorBoard has not loaded {tags} scalar series within 600 s.")

    def memory(self) -> dict[str, int]:
        """Resident bytes now and at most so far of TensorBoard's process, and of its data server if it has one."""
        own = _status(self.pid)
        found = {"now": own["VmRSS"], "peak": own["VmHWM"]}
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return {**found, "data_server": sum(_status(int(child))["VmRSS"] for child in children)}


@contextlib.contextmanager
def tensorboard(logdir: Path, loader: str, **environment: str) -> Iterator[Board]:
    """Runs a TensorBoard until the end of the block. `loader`: ``"rust"`` or ``"python"``."""
    fast = {"rust": "true", "python": "false"}[loader]
    command = [
        sys.executable, "-m", "tensorboard.main", f"--logdir={logdir}", f"--load_fast={fast}", "--host=127.0.0.1",
        "--port=0", "--reload_interval=1",
    ]  # fmt: skip
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    try:
        yield Board(_address(process), process.pid)
    finally:
        process.terminate()
        process.wait(30)


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if match := re.search(r"TensorBoard \S+ at (http://\S+?)/? ", line):
            threading.Thread(target=process.stderr.read, daemon=True).start()  # or a full pipe would stop it
            return match[1]
    raise RuntimeError("TensorBoard did not start. Run it by hand to see why: tensorboard --logdir .")


def _status(pid: int) -> dict[str, int]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    pairs = (line.split(":", 1) for line in lines if line.startswith("Vm"))
    return {name: int(value.split()[0]) * 1024 for name, value in pairs}
