"""All runs of a TensorBoard, each read when somebody asks for it."""

import threading
from collections.abc import Mapping

from tensorboard import errors

from tb_gradhealth.health import RunHealth
from tb_gradhealth.serve.cache import SegmentCache
from tb_gradhealth.serve.insights import Insights
from tb_gradhealth.serve.memory import Tidy
from tb_gradhealth.serve.run import Run, RunReader, revision_of
from tb_gradhealth.serve.source import Series, Source, Where

DEFAULT_LIMIT = 1 << 30
"""Bytes of records held at once, of all runs together."""


class Store:
    """The runs.

    Args:
      source: where the series come from.
      kept: how many records of a series TensorBoard was told to keep; 0 or None: all.
      limit: bytes of records held at once.
    """

    def __init__(self, source: Source, kept: int | None = None, limit: int = DEFAULT_LIMIT) -> None:
        self.source = source
        self.tidy = Tidy()
        self.cache = SegmentCache(limit, self.tidy)
        self._kept = kept
        self._lock = threading.Lock()
        self._runs: dict[tuple[str, str], tuple[RunReader, Insights]] = {}

    def run(self, where: Where, name: str) -> tuple[Run, Insights]:
        """The run as it is now, and what is worked out of it.

        Raises:
          tensorboard.errors.NotFoundError: there is no such run, or it has no data of ours.
        """
        listing = self.source.series(where, name).get(name)
        key = where.experiment, name
        with self._lock:
            if not listing:
                gone = self._runs.pop(key, None)
            else:
                if key not in self._runs:
                    self._runs[key] = RunReader(name, self.source, self.cache, self._kept), Insights()
                reader, insights = self._runs[key]
        if not listing:
            if gone is not None:
                gone[0].drop()
            raise errors.NotFoundError(f"There is no run {name!r} with gradient health records.")
        return reader.refreshed(where, listing), insights

    def known_health(self, where: Where, listing: Mapping[str, Mapping[str, Series]]) -> dict[str, RunHealth]:
        """The verdicts on those runs that have been asked for before and have not changed since."""
        with self._lock:
            held = {
                name: insights
                for (experiment, name), (_, insights) in self._runs.items()
                if experiment == where.experiment and name in listing
            }
        found = {name: insights.known_health(revision_of(listing[name])) for name, insights in held.items()}
        return {name: health for name, health in found.items() if health is not None}
