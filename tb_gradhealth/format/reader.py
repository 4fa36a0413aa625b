"""Reading runs from a log directory, without TensorFlow where the directory is a local one.

Promises: a file that is being written, was cut off or is damaged yields everything before the damage; what was lost
is told in the run's `problems`. Directories that TensorFlow's filesystems serve (`gs://`, `ram://`, …) are read
through TensorFlow, which must then be installed.
"""

import itertools
import os
import struct
from collections.abc import Iterator
from typing import IO, Any

from google.protobuf.message import DecodeError
from tensorboard.compat.proto import event_pb2
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

from tb_gradhealth.format.log import RunLog, Stored, assemble
from tb_gradhealth.format.tags import CAUSES, INCIDENTS, PLUGIN_NAME, parse

_HEADER = struct.Struct("<QI")
_FOOTER = 4
_HEAD = 16
"""Events by which a file is known: ours begins with a schema, and another's may be a gigabyte of images."""


def find_runs(logdir: str) -> list[str]:
    """Run names below a log directory that hold gradient health records, sorted.

    A run's name is its path relative to `logdir` with forward slashes, ``"."`` for `logdir` itself, as TensorBoard
    names it.

    Raises:
      FileNotFoundError: there is no such directory.
    """
    if "://" not in logdir and not os.path.isdir(logdir):
        raise FileNotFoundError(
            f"There is no log directory {logdir!r}. Pass the directory given to `tensorboard --logdir`."
        )
    runs = []
    for directory, files in _walk(logdir):
        if any(_holds_records(_join(directory, name)) for name in files if "tfevents" in name):
            runs.append(os.path.relpath(directory, logdir).replace(os.sep, "/") if directory != logdir else ".")
    return sorted(runs)


def read_run(directory: str) -> RunLog:
    """Everything that the event files of one run directory say."""
    problems: list[str] = []
    elements = [element for path in _event_files(directory) for element in _elements(path, problems)]
    run = assemble(elements)
    return RunLog(run.groups, run.incidents, run.causes, (*problems, *run.problems), run.newer_format)


def _event_files(directory: str) -> list[str]:
    for found, files in _walk(directory):
        return [_join(found, name) for name in sorted(files) if "tfevents" in name]
    return []


def _elements(path: str, problems: list[str], most: int | None = None) -> Iterator[Stored]:
    """Ours among the events of a file, or among its first `most`."""
    foreign: set[str] = set()  # a tag's first event in a file says whose it is
    for payload in itertools.islice(_payloads(path, problems), most):
        try:
            event = event_pb2.Event.FromString(payload)
        except DecodeError:
            problems.append(f"{path}: an event is damaged and was left out.")
            continue
        for value in event.summary.value:
            if value.metadata.plugin_data.plugin_name not in ("", PLUGIN_NAME):
                foreign.add(value.tag)
            if _is_known(value.tag) and value.tag not in foreign and value.tensor.string_val:
                yield Stored(value.tag, event.step, event.wall_time, value.tensor.string_val[0])


def _is_known(tag: str) -> bool:
    return tag in (INCIDENTS, CAUSES) or parse(tag) is not None


def _holds_records(path: str) -> bool:
    return next(_elements(path, [], _HEAD), None) is not None


def _payloads(path: str, problems: list[str]) -> Iterator[bytes]:
    with _open(path) as stream:
        while len(header := stream.read(_HEADER.size)) == _HEADER.size:
            length, crc = _HEADER.unpack(header)
            if masked_crc32c(header[:8]) != crc:
                problems.append(
                    f"{path}: damaged at byte {stream.tell() - _HEADER.size}; the rest of this file is lost."
                )
                return
            payload = stream.read(length)
            if len(payload) < length or len(stream.read(_FOOTER)) < _FOOTER:
                return  # still being written, or cut off by a kill
            yield payload


def _walk(directory: str) -> Iterator[tuple[str, list[str]]]:
    if "://" not in directory:
        for found, _, files in os.walk(directory, followlinks=True):
            yield found, files
        return
    for found, _, files in _tensorflow_io().walk(directory):
        yield found.rstrip("/"), files


def _join(directory: str, name: str) -> str:
    return f"{directory}/{name}" if "://" in directory else os.path.join(directory, name)


def _open(path: str) -> IO[bytes]:
    if "://" not in path:
        return open(path, "rb")
    stream: IO[bytes] = _tensorflow_io().GFile(path, "rb")
    return stream


def _tensorflow_io() -> Any:
    from tensorboard.compat import tf  # resolves to TensorFlow's filesystems where TensorFlow is installed

    return tf.io.gfile
