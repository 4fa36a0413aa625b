"""One run, brought up to date series by series.

Promises: a series is read again only when it has changed, so of a growing run the newest segment and no other; the
answer describes one moment of the run. Thread-safe: who asks while the run is being brought up to date waits.
"""

import dataclasses
import hashlib
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.log import last_message, newer_format_sentence
from tb_gradhealth.format.tags import CAUSES, FORMAT_VERSION, INCIDENTS, SeriesTag, parse
from tb_gradhealth.format.windows import Windows
from tb_gradhealth.serve.cache import SegmentCache
from tb_gradhealth.serve.sampling import Sampling, sampling_of
from tb_gradhealth.serve.segment import Segment
from tb_gradhealth.serve.source import Series, Source, UnavailableError, Where
from tb_gradhealth.serve.table import Table, table_of


@dataclasses.dataclass(frozen=True)
class Run:
    """A run at one moment.

    Attributes:
      revision: changes whenever anything else may have changed.
      wall_time: seconds since the epoch of the newest element.
      tables: by group, in order of first appearance.
      flights: gives a group's flight records, segment by segment, for each generation of its table.
      incidents, causes: as last written.
      problems: sentences about what could not be read.
      newer_format: the log's format version where this software cannot read it; then there are no tables.
      sampling: what the user's flag made TensorBoard throw away.
    """

    name: str
    revision: str
    wall_time: float
    tables: Mapping[str, Table]
    flights: Callable[[str], Sequence[Sequence[Segment]]]
    incidents: Sequence[pb.Incident]
    causes: Sequence[pb.Cause]
    problems: Sequence[str]
    newer_format: int | None
    sampling: Sampling | None


def revision_of(listing: Mapping[str, Series]) -> str:
    """A short text that is the same as long as no series has changed."""
    told = repr(sorted((tag, series.max_step, series.max_wall_time) for tag, series in listing.items()))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def newer_format_of(listing: Mapping[str, Series]) -> int | None:
    """The format version in which a run was written, where it is newer than what this software reads."""
    versions = (int(s.content) for s in listing.values() if s.content.isdigit() and len(s.content) < 10)
    return max((v for v in versions if v > FORMAT_VERSION), default=None)


class RunReader:
    """Reads one run, again and again.

    Args:
      name: of the run.
      source: where its series come from.
      cache: where its records are held.
      kept: how many records of a series TensorBoard was told to keep; 0 or None: all.
    """

    def __init__(self, name: str, source: Source, cache: SegmentCache, kept: int | None) -> None:
        self.run: Run | None = None
        self._name = name
        self._source = source
        self._cache = cache
        self._kept = kept
        self._lock = threading.Lock()
        self._where = Where(None)
        self._listing: Mapping[str, Series] = {}
        self._messages: dict[str, tuple[Series, Any, tuple[str, ...]]] = {}
        self._scalars: dict[str, tuple[Series, int, Windows, tuple[str, ...]]] = {}

    def refreshed(self, where: Where, listing: Mapping[str, Series]) -> Run:
        """The run as it is now.

        Args:
          listing: its series as they are now.
        """
        with self._lock:
            self._where = where
            if self.run is None or listing != self._listing:
                self._drop(self._listing.keys() - listing.keys())
                self._listing = listing
                self.run = self._read()
            return self.run

    def drop(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._drop(self._listing)
            self._listing, self.run = {}, None

    def _drop(self, tags: Any) -> None:
        for tag in tags:
            self._messages.pop(tag, None)
            self._scalars.pop(tag, None)
            self._cache.drop(self._key(tag))

    def _key(self, tag: str) -> tuple[str, str, str]:
        return self._where.experiment, self._name, tag

    def _read(self) -> Run:
        tags = sorted(tag for name in self._listing if (tag := parse(name)) is not None)
        problems: list[str] = []
        schemas = {t: s for t in tags if t.kind == "schema" and (s := self._message(str(t), pb.Schema, problems))}
        versions = [s.format_version for s in schemas.values() if s.format_version > FORMAT_VERSION]
        newer = max((*versions, newer_format_of(self._listing) or 0)) or None
        if newer is not None:
            schemas, problems = {}, [newer_format_sentence(newer)]
        groups: dict[str, list[_Generation]] = defaultdict(list)
        for tag in sorted(schemas, key=lambda t: (t.generation, t.group)):
            groups[tag.group].append(_Generation(schemas[tag], _tags(tags, "records", tag), _tags(tags, "flight", tag)))
        tables, kept = {}, []
        for group, found in groups.items():
            segments = [[(tag, self._windows(tag, g.rows, problems)) for tag in g.records] for g in found]
            kept += [[(g.rows, w.first_step) for _, w in part] for g, part in zip(found, segments, strict=True)]
            tables[group] = table_of(
                [(g.schema, part) for g, part in zip(found, segments, strict=True)], self._opener(found)
            )
        incidents = None if newer else self._message(INCIDENTS, pb.Incidents, problems)
        causes = None if newer else self._message(CAUSES, pb.Causes, problems)
        return Run(
            name=self._name,
            revision=revision_of(self._listing),
            wall_time=max(series.max_wall_time for series in self._listing.values()),
            tables=tables,
            flights=lambda group: [[self._open(tag, g.rows) for tag in g.flights] for g in groups[group]],
            incidents=tuple(incidents.incidents) if incidents else (),
            causes=tuple(causes.causes) if causes else (),
            problems=tuple(problems),
            newer_format=newer,
            sampling=sampling_of(kept, self._kept),
        )

    def _opener(self, generations: Sequence["_Generation"]) -> Callable[[str], Segment]:
        rows = {tag: g.rows for g in generations for tag in g.records}
        return lambda tag: self._open(tag, rows[tag])

    def _message(self, tag: str, kind: Any, problems: list[str]) -> Any:
        series = self._listing.get(tag)
        if series is None:
            return None
        known = self._messages.get(tag)
        if known is None or known[0] != series:
            told: list[str] = []
            message = last_message(self._source.read(self._where, self._name, tag), kind, told)
            known = self._messages[tag] = series, message, tuple(told)
        problems.extend(known[2])
        return known[1]

    def _windows(self, tag: str, rows: int, problems: list[str]) -> Windows:
        """The windows of a segment without their rows."""
        series = self._listing[tag]
        known = self._scalars.get(tag)
        if known is None or known[:2] != (series, rows):
            self._scalars.pop(tag, None)
            segment = self._open(tag, rows)
            known = self._scalars[tag] = series, rows, segment.scalars, segment.problems
        problems.extend(known[3])
        return known[2]

    def _open(self, tag: str, rows: int) -> Segment:
        version = self._listing.get(tag), rows
        segment = self._cache.get(self._key(tag), version)
        if segment is None:
            segment = Segment(self._source.read(self._where, self._name, tag), rows)
            self._cache.put(self._key(tag), version, segment)
        known = self._scalars.get(tag)
        if known is not None and len(segment) < len(known[2]):
            raise UnavailableError(f"The run {self._name!r} changed while it was being read. Ask again.")
        return segment


@dataclasses.dataclass(frozen=True)
class _Generation:
    """A variable set of a group and the tags of its segments."""

    schema: pb.Schema
    records: Sequence[str]
    flights: Sequence[str]

    @property
    def rows(self) -> int:
        return len(self.schema.variables) * max(self.schema.replicas, 1)


def _tags(tags: Sequence[SeriesTag], kind: str, of: SeriesTag) -> list[str]:
    return [str(t) for t in tags if (t.kind, t.group, t.generation) == (kind, of.group, of.generation)]
