"""Looks at the device now and then, from a thread, where steps run that the host does not see.

That is so when `record` or a watched optimizer is part of a `tf.function` that the user calls. The thread starts when
such a function is traced, sleeps most of the time, and looks more often the more steps it finds.
"""

import threading
from collections.abc import Callable

SHORTEST, LONGEST = 0.005, 0.5
"""Seconds between two looks."""

MANY, FEW = 24, 8
"""Steps found at once: more than many, look sooner; fewer than few, look later. A ring holds 64."""


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
        pause = 0.02
        while not self._stop.wait(pause):
            found = self._look()
            if found > MANY:
                pause = max(SHORTEST, pause / 2)
            elif found < FEW:
                pause = min(LONGEST, pause * 1.5)
