"""An alarm that sends incidents to a web server.

Promises: no step waits for the network; the queue is bounded, and so is the time that the end of the program may wait;
a server that cannot be reached is one warning, and later incidents are still tried.
"""

import dataclasses
import json
import math
import queue
import socket
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Collection, Mapping
from typing import Any

from tb_gradhealth.health import Incident
from tb_gradhealth.record.alarms.alarm import Alarm, Training
from tb_gradhealth.record.alarms.log_line import line_of
from tb_gradhealth.record.guard import warn

QUEUED = 100
"""Incidents that may wait to be sent; further ones are dropped, with a warning."""

CLOSING_SECONDS = 5.0
"""The end of the training waits at most so long, and a time-out, for what is queued."""


class Webhook(Alarm):
    """Sends each incident as JSON by HTTP POST, from a thread of its own.

    ```python
    GradHealthCallback("logs/run1", on_incident=tb_gradhealth.alarms.Webhook("https://example.org/hooks/gradients"))
    ```

    The object sent has ``text`` (one line, which chat services show), ``log_dir``, ``host``, and of the incident
    ``kind``, ``severity``, ``group``, ``first_step``, ``last_step``, ``steps``, ``variables``, ``sentence``,
    ``evidence``, and ``cause`` (or null). Numbers that are not finite are sent as null.

    Args:
      url: begins with ``http://`` or ``https://``.
      headers: further headers, for example of authorisation.
      timeout: seconds that one attempt may take.
      kinds, severity: see `Alarm`.

    Raises:
      TypeError, ValueError: an argument is not what it should be.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = 5.0,
        kinds: Collection[str] | None = None,
        severity: str = "watch",
    ) -> None:
        super().__init__(kinds, severity)
        if not isinstance(url, str) or urllib.parse.urlsplit(url).scheme not in ("http", "https"):
            raise ValueError(
                f"`url` must begin with http:// or https://. Received: url={url!r}. "
                "Pass the address that takes the POST requests."
            )
        if not timeout > 0:
            raise ValueError(f"`timeout` must be a number of seconds greater than 0. Received: timeout={timeout!r}.")
        self._url = url
        self._headers = {"Content-Type": "application/json", **(headers or {})}
        self._timeout = timeout
        self._log_dir = ""
        self._reset()

    def _reset(self) -> None:
        self._queue: queue.Queue[bytes] = queue.Queue(QUEUED)
        self._thread: threading.Thread | None = None
        self._warned: set[str] = set()

    def begin(self, training: Training) -> None:
        self._log_dir = training.log_dir

    def raised(self, incident: Incident) -> None:
        body = json.dumps(_finite(payload(incident, self._log_dir)), allow_nan=False).encode()
        try:
            self._queue.put_nowait(body)
        except queue.Full:
            self._warn_once("full", f"{QUEUED} incidents are waiting to be sent to {self._url}: further ones are not.")
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._send_all, name="gradhealth-webhook", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Waits for what is queued, but not long."""
        until = time.monotonic() + CLOSING_SECONDS + self._timeout
        while self._queue.unfinished_tasks and time.monotonic() < until:
            time.sleep(0.01)

    def _send_all(self) -> None:
        while True:
            body = self._queue.get()
            try:
                self._send(body)
            except Exception as error:  # whatever a network, a proxy or a header can bring about
                self._warn_once("failed", f"An incident could not be sent to {self._url}: {error}. Training goes on.")
            finally:
                self._queue.task_done()

    def _send(self, body: bytes) -> None:
        request = urllib.request.Request(self._url, body, self._headers, method="POST")
        with urllib.request.urlopen(request, timeout=self._timeout) as response:
            response.read(1)

    def _warn_once(self, kind: str, message: str) -> None:
        if kind not in self._warned:
            self._warned.add(kind)
            warn(message)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_queue", "_thread", "_warned")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._reset()


def payload(incident: Incident, log_dir: str) -> dict[str, Any]:
    """What is sent of an incident."""
    return {
        "text": f"{log_dir}: {line_of(incident)}",
        "log_dir": log_dir,
        "host": socket.gethostname(),
        "kind": incident.kind,
        "severity": incident.severity,
        "group": incident.group,
        "first_step": incident.first_step,
        "last_step": incident.last_step,
        "steps": incident.steps,
        "variables": list(incident.variables),
        "sentence": incident.sentence,
        "evidence": dict(incident.evidence),
        "cause": None if incident.cause is None else dataclasses.asdict(incident.cause),
    }


def _finite(value: Any) -> Any:
    """The same with null for numbers that JSON has no words for, and Python's own numbers for NumPy's."""
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
