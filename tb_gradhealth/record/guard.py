"""Monitoring must never break training: one warning that says what stopped, and no exception.

A guard runs our own host code. After its first failure it runs nothing any more.
"""

import sys
import warnings
from collections.abc import Callable
from typing import Any


class GradHealthWarning(UserWarning):
    """Something about the recording went wrong; the training itself is not affected."""


def warn(message: str) -> None:
    """Warns without ever raising, whatever the warning filters say."""
    try:
        warnings.warn(message, GradHealthWarning, stacklevel=3)
    except GradHealthWarning:
        print(f"tb_gradhealth: {message}", file=sys.stderr)


class Guard:
    """Runs what may fail.

    Args:
      what: that stops when it fails, as in "recording to 'logs/run1'".
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self.failed = False

    def run(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The function's result, or None if it failed now or something failed before."""
        if self.failed:
            return None
        try:
            return function(*args, **kwargs)
        except Exception as error:
            self.failed = True
            reason = str(error).strip() or type(error).__name__
            warn(
                f"tb_gradhealth stopped {self._what}: {reason}. Training goes on; what was written so far is readable."
            )
            return None
