"""Looks at the device now and then, from a thread, where steps run that the host does not see.

That is so when `record` or a watched optimizer is part of a `tf.function` that the user calls. The thread starts when
such a function is traced, sleeps most of the time, and looks as often as the fastest pace seen so far asks for: a loop
that paused for an evaluation goes on as fast as before.
"""

import threading
import time
from collections.abc import Callable

SHORTEST, LONGEST = 0.005, 0.5
"""Seconds between two looks."""

AIM = 16
"""Steps to be found at once, at the fastest pace seen so far. A ring holds 64."""


class Poller:
    """Calls `look` from a daemon thread.

    Args:
      look: reads what is new and returns how many steps that were.
    """

    def __init__(self, look: Callable[[], int]) -> None:
        self._look = look
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begins; a second call does nothing."""
        if self._thread is None and not self._stop.is_set():
            self._thread = threading.Thread(target=self._run, name="tb_gradhealth", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Ends the thread and waits for it."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        pause, fastest = SHORTEST, 0.0  # until the first step is found: tracing has taken longer than any step will
        before = time.monotonic()
        while not self._stop.wait(pause):
            found, now = self._look(), time.monotonic()
            fastest = max(fastest, found / max(now - before, SHORTEST))
            before = now
            if fastest:
                pause = min(max(AIM / fastest, SHORTEST), LONGEST)
