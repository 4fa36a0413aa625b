"""The event file a run is written to, on any filesystem TensorFlow writes to.

Promises: the file is opened on the first write; `flush` hands everything to the filesystem and notices a file that is
no longer there; errors are raised as `OSError` with the path in it.
"""

import itertools
import os
import socket
import time
from typing import Any

import tensorflow as tf

from tb_gradhealth.format.tags import RUN_SUBDIR

_numbers = itertools.count()


def checked_log_dir(log_dir: Any) -> str:
    """The log directory as a string.

    Raises:
      TypeError, ValueError: it is no path.
    """
    if not isinstance(log_dir, str | os.PathLike):
        raise TypeError(
            f"`log_dir` must be a path (a str or os.PathLike). Received: log_dir={log_dir!r} (of "
            f"type {type(log_dir).__name__}). Pass the directory you give to `tensorboard --logdir`, or one below it."
        )
    path = os.fspath(log_dir)
    if not isinstance(path, str) or not path.strip():
        raise ValueError(f"`log_dir` must be a non-empty path. Received: log_dir={log_dir!r}.")
    return path


def run_dir(log_dir: str) -> str:
    """The directory of the run's event files."""
    return f"{log_dir.rstrip('/')}/{RUN_SUBDIR}" if "://" in log_dir else os.path.join(log_dir, RUN_SUBDIR)


class EventFile:
    """A `RecordSink` over `tf.io.TFRecordWriter`.

    Args:
      directory: made on the first write if it is not there.
    """

    def __init__(self, directory: str) -> None:
        now = time.time()
        name = (
            f"events.out.tfevents.{int(now):010d}.{int(now * 1000) % 1000:03d}"
            f".{socket.gethostname()}.{os.getpid()}.{next(_numbers):04d}"
        )
        self._directory = directory
        self.path = f"{directory}/{name}"
        self._writer: tf.io.TFRecordWriter | None = None
        self._unflushed = False

    def write(self, record: bytes) -> None:
        with _as_os_error(self.path):
            if self._writer is None:
                tf.io.gfile.makedirs(self._directory)
                self._writer = tf.io.TFRecordWriter(self.path)
            self._writer.write(record)
            self._unflushed = True

    def flush(self) -> None:
        if self._writer is None or not self._unflushed:
            return
        self._unflushed = False
        with _as_os_error(self.path):
            self._writer.flush()
            if not tf.io.gfile.exists(self.path):
                raise FileNotFoundError(f"{self.path} was removed while it was being written")

    def close(self) -> None:
        if self._writer is None:
            return
        writer, self._writer = self._writer, None
        with _as_os_error(self.path):
            writer.close()


class _as_os_error:  # noqa: N801 - reads as a statement
    """Turns TensorFlow's file errors into `OSError`."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, _: Any) -> None:
        if isinstance(error, tf.errors.OpError):
            raise OSError(f"{self._path}: {error.message}") from error
