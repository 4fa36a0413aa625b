"""The recorders that are open, so that what they hold reaches the disk when the program ends without closing them."""

import atexit
import weakref
from typing import Any

_open: "weakref.WeakSet[Any]" = weakref.WeakSet()
_registered: list[bool] = []


def add(recorder: Any) -> None:
    """Closes the recorder at the end of the program, if it is still open then."""
    if not _registered:
        atexit.register(_close_all)
        _registered.append(True)
    _open.add(recorder)


def discard(recorder: Any) -> None:
    """The recorder is closed by its owner."""
    _open.discard(recorder)


def _close_all() -> None:
    for recorder in list(_open):
        recorder.close()
