"""Segments in memory, bounded: what was not used for longest goes first.

Promises: never holds more bytes than its limit, but for one segment; a segment that went is read again when it is
asked for. Thread-safe.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable

from tb_gradhealth.serve.memory import Tidy
from tb_gradhealth.serve.segment import Segment


class SegmentCache:
    """Segments by key.

    Args:
      limit: bytes.
      tidy: told of every segment: reading one passes several times its bytes through short-lived buffers.
    """

    def __init__(self, limit: int, tidy: Tidy | None = None) -> None:
        self._limit = limit
        self._tidy = tidy or Tidy()
        self._lock = threading.Lock()
        self._held: OrderedDict[Hashable, tuple[object, Segment]] = OrderedDict()
        self._bytes = 0

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._bytes

    def get(self, key: Hashable, version: object) -> Segment | None:
        """The segment of that key if it is held in that version."""
        with self._lock:
            found = self._held.get(key)
            if found is None or found[0] != version:
                return None
            self._held.move_to_end(key)
            return found[1]

    def put(self, key: Hashable, version: object, segment: Segment) -> None:
        """Holds a segment in place of any other version of it."""
        with self._lock:
            self._drop(key)
            self._held[key] = version, segment
            self._bytes += segment.nbytes
            while self._bytes > self._limit and len(self._held) > 1:
                self._drop(next(iter(self._held)))
        self._tidy.after(segment.nbytes)

    def drop(self, key: Hashable) -> None:
        """Forgets a segment."""
        with self._lock:
            self._drop(key)

    def _drop(self, key: Hashable) -> None:
        found = self._held.pop(key, None)
        if found is not None:
            self._bytes -= found[1].nbytes
