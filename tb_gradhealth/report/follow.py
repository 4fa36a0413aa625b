"""Following growing runs: the report again whenever the log has grown, until Ctrl-C.

Promises: a log directory that is not there yet, or holds no run yet, is waited for; the exit code is that of the last
report.
"""

import os
import time
from collections.abc import Callable
from typing import TextIO

CLEAR = "\x1b[H\x1b[2J\x1b[3J"
_UNREADABLE = 2


def follow(
    once: Callable[[], tuple[str, int]],
    logdir: str,
    interval: float,
    out: TextIO,
    err: TextIO,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Prints what `once` gives each time the event files below `logdir` change.

    Args:
      once: makes the report: text and exit code; raises OSError or LookupError where there is none yet.
      interval: seconds between looks.
      sleep: replaced in tests.
    """
    code, seen, waiting = _UNREADABLE, None, False
    try:
        while True:
            now = _sizes(logdir)
            if now != seen or not now:
                seen = now
                try:
                    text, code = once()
                except (OSError, LookupError) as error:
                    if not waiting:
                        print(f"tb-gradhealth: waiting. {error.args[-1]}", file=err, flush=True)
                    waiting = True
                else:
                    out.write(CLEAR + text if out.isatty() else text)
                    out.flush()
            sleep(interval)
    except KeyboardInterrupt:
        return code


def _sizes(logdir: str) -> dict[str, int] | None:
    """Size of each event file; None for a directory on a filesystem that is not local: look every time."""
    if "://" in logdir:
        return None
    sizes = {}
    for directory, _, files in os.walk(logdir, followlinks=True):
        for name in files:
            if "tfevents" in name:
                path = os.path.join(directory, name)
                try:
                    sizes[path] = os.path.getsize(path)
                except OSError:  # removed in between
                    continue
    return sizes
