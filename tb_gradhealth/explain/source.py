"""Stacks → the user's own line: the innermost frame outside TensorFlow, Keras, NumPy and the standard library.

Promises: nothing here raises; where no line is known the answer is None or an empty text. Texts come from `linecache`,
so notebook cells and edited files read as the interpreter has them. Stacks are sequences of `(file, line, function)`,
outermost first, whether they come from `op.traceback` or from Python's own frames.
"""

import dataclasses
import functools
import linecache
import os
import sys
import sysconfig
import types
from collections.abc import Iterable, Sequence
from typing import Any

Frame = tuple[str, int, str]
"""File as the interpreter has it, 1-based line, name of the function."""

Stack = tuple[Frame, ...]

_LIBRARIES = ("tensorflow", "keras", "tf_keras", "numpy", "tb_gradhealth", "absl", "wrapt", "six")
_KERAS = ("keras", "tf_keras")
_SITES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


@dataclasses.dataclass(frozen=True)
class Place:
    """A line of the user's source."""

    file: str
    line: int
    function: str = ""

    @property
    def code(self) -> str:
        """The stripped text of the line, "" where the file cannot be read."""
        return text_of(self.file, self.line)


def stack_of(trace: Any) -> Stack:
    """A stack as frames, from anything that lists frames with a file, a line and a function (`op.traceback`)."""
    try:
        return tuple(_written((frame.filename, int(frame.lineno), frame.name)) for frame in trace)
    except (AttributeError, TypeError, ValueError):
        return ()


_GENERATED = "__autograph_generated_file"

_written_lines: dict[str, dict[int, Frame]] = {}


def _written(frame: Frame) -> Frame:
    """The frame as the user wrote it: TensorFlow maps AutoGraph's files back, but not in the threads of replicas."""
    if _GENERATED not in frame[0]:
        return frame
    if frame[0] not in _written_lines:
        from tb_gradhealth.explain import private  # late: it imports TensorFlow

        _written_lines[frame[0]] = private.written_lines(frame[0])
    return _written_lines[frame[0]].get(frame[1], frame)


def stack_here(skip: int = 0) -> Stack:
    """Python's own stack of the caller, without its innermost `skip` frames."""
    frames: list[Frame] = []
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if skip:
            skip -= 1
        else:
            frames.append((frame.f_code.co_filename, frame.f_lineno or 0, frame.f_code.co_name))
        frame = frame.f_back
    return tuple(reversed(frames))


def user_frames(stack: Iterable[Frame]) -> list[Place]:
    """The user's frames among these, outermost first."""
    return [Place(*frame) for frame in stack if is_user_file(frame[0]) and frame[1] > 0]


def innermost(stack: Sequence[Frame]) -> Place | None:
    """The user's innermost line, None if no frame is the user's."""
    for frame in reversed(stack):
        if frame[1] > 0 and is_user_file(frame[0]):
            return Place(*frame)
    return None


def innermost_index(stack: Sequence[Frame]) -> int:
    """Index of the user's innermost frame, -1 if none is."""
    for index in range(len(stack) - 1, -1, -1):
        if stack[index][1] > 0 and is_user_file(stack[index][0]):
            return index
    return -1


def in_function_of(stack: Sequence[Frame], caller: Sequence[Frame]) -> Place | None:
    """The line of `stack` in the innermost user function that it shares with the stack `caller`.

    Where a value was computed "outside the tape" the telling line is not the one deep inside a layer but the one in
    the function that asked for the gradient, or in the nearest function around both.
    """
    shared: Place | None = None
    for frame, other in zip(stack, caller, strict=False):
        if (frame[0], frame[2]) != (other[0], other[2]):
            break
        if is_user_file(frame[0]) and frame[1] > 0:
            shared = Place(*frame)
        if frame[1] != other[1] and is_user_file(frame[0]):
            break
    return shared


def behind_keras(stack: Sequence[Frame]) -> bool:
    """Whether code of Keras stands between the user's innermost frame and the operation."""
    start = innermost_index(stack)
    return any(library_of(frame[0]) in _KERAS for frame in stack[start + 1 :])


def text_of(file: str, line: int) -> str:
    """The stripped text of a line, "" if there is none."""
    if line <= 0:
        return ""
    try:
        return linecache.getline(file, line).strip()
    except Exception:  # a source that cannot be decoded
        return ""


def shown(file: str) -> str:
    """A file for a sentence: relative to the working directory, else to the entry of `sys.path` it is under."""
    if not os.path.isabs(file):
        return file
    for folder in (os.getcwd(), *sorted(filter(os.path.isabs, sys.path), key=len, reverse=True)):
        if file.startswith(os.path.join(folder, "")):
            return os.path.relpath(file, folder)
    return os.path.join(os.path.basename(os.path.dirname(file)), os.path.basename(file))


@functools.lru_cache(maxsize=4096)
def is_user_file(file: str) -> bool:
    """Whether a file is the user's: a script, a module, a notebook cell."""
    if not file or file.startswith("<frozen") or file.startswith("<__array_function__"):
        return False
    if _GENERATED in file:
        return False
    if library_of(file):
        return False
    if any(site in file for site in _SITES):
        return True
    return not any(file.startswith(folder) for folder in _standard_library())


@functools.lru_cache(maxsize=4096)
def library_of(file: str) -> str:
    """The library out of TensorFlow, Keras, NumPy and this package that a file belongs to; "" for any other."""
    for library in _LIBRARIES:
        if any(f"{site}{library}{os.sep}" in file or file.endswith(f"{site}{library}.py") for site in _SITES):
            return library
        if any(file.startswith(folder) for folder in _folders_of(library)):
            return library
    return ""


def _folders_of(library: str) -> tuple[str, ...]:
    """Where an imported library lies; an editable install lies outside every site-packages."""
    module = sys.modules.get(library)
    return tuple(os.path.join(folder, "") for folder in getattr(module, "__path__", ()) if isinstance(folder, str))


@functools.lru_cache(maxsize=1)
def _standard_library() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = {paths.get("stdlib", ""), paths.get("platstdlib", ""), os.path.dirname(os.__file__)}
    folders |= {os.path.realpath(folder) for folder in folders if folder}
    return tuple(os.path.join(folder, "") for folder in folders if folder)
