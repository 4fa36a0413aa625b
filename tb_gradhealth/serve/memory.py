"""Handing memory back to the operating system."""

import ctypes
import functools
import threading
from collections.abc import Callable


def give_back() -> None:
    """Returns what was freed to the operating system, where the C library can (glibc); else does nothing.

    Reading a large run passes several times its bytes through short-lived buffers, and glibc keeps such memory for the
    process: measured, half as much again as the records that stay.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


class Tidy:
    """Gives memory back each time that so much has passed through. Thread-safe.

    Args:
      every: bytes of answers and of records that were read.
    """

    def __init__(self, every: int = 32 << 20) -> None:
        self._every = every
        self._passed = 0
        self._lock = threading.Lock()

    def after(self, nbytes: int) -> None:
        """So much was made or read."""
        with self._lock:
            self._passed += nbytes
            due = self._passed >= self._every
            if due:
                self._passed = 0
        if due:
            give_back()


@functools.cache
def _trim() -> Callable[[int], int] | None:
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
    return trim
