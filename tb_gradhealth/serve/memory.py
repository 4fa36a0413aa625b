"""Handing memory back to the operating system."""

import ctypes
import functools
from collections.abc import Callable


def give_back() -> None:
    """Returns what was freed to the operating system, where the C library can (glibc); else does nothing.

    Reading a large run passes several times its bytes through short-lived buffers, and glibc keeps such memory for the
    process: measured, half as much again as the records that stay.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@functools.cache
def _trim() -> Callable[[int], int] | None:
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
    return trim
