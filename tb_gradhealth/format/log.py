"""A run as its readers see it, put together from the stored series of one run directory.

Pure: it knows neither files nor TensorBoard. Promises: the result does not depend on the order in which the series of
different tags arrive; a training that goes back to an earlier step, resumed or not, replaces the steps that it
repeats; a variable set that changes during the run gives one table over all variables that ever were; damage costs
the damaged record and is told in `problems`.
"""

import dataclasses
import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
from google.protobuf.message import DecodeError

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.columns import ROWS, SCALARS
from tb_gradhealth.format.encoding import decode
from tb_gradhealth.format.seal import unsealed
from tb_gradhealth.format.tags import CAUSES, FORMAT_VERSION, INCIDENTS, SeriesTag, parse
from tb_gradhealth.format.windows import Array, Windows

_M = TypeVar("_M", pb.Schema, pb.Incidents, pb.Causes)


@dataclasses.dataclass(frozen=True)
class Stored:
    """One stored element of a series."""

    tag: str
    step: int
    wall_time: float
    payload: bytes


@dataclasses.dataclass(frozen=True)
class GroupLog:
    """All that is known of one group.

    Attributes:
      schema: the latest schema, its variables being the union over the run: those of the latest generation first, then
        those that existed only before.
      generations: the schemas as stored, oldest first.
      windows: over the rows of `schema`, in order of steps, no step twice.
      flights: single-step windows around incidents, over the same rows, in order of steps, no step twice.
    """

    schema: pb.Schema
    generations: Sequence[pb.Schema]
    windows: Windows
    flights: Windows


@dataclasses.dataclass(frozen=True)
class RunLog:
    """One run directory, read.

    Attributes:
      groups: by name, in order of first appearance; those that began together by name.
      incidents, causes: as last written.
      problems: sentences about what could not be read.
      newer_format: the format version when it is one that this version cannot read, else None.
    """

    groups: dict[str, GroupLog]
    incidents: Sequence[pb.Incident] = ()
    causes: Sequence[pb.Cause] = ()
    problems: Sequence[str] = ()
    newer_format: int | None = None


def assemble(elements: Iterable[Stored]) -> RunLog:
    """The run that the stored elements of its tags describe. Elements of one tag come in the order of writing."""
    by_tag: dict[str, list[Stored]] = defaultdict(list)
    for element in elements:
        by_tag[element.tag].append(element)
    problems: list[str] = []
    schemas = _schemas(by_tag, problems)
    newer = max((s.format_version for s in schemas.values() if s.format_version > FORMAT_VERSION), default=None)
    if newer is not None:
        return RunLog({}, problems=[newer_format_sentence(newer)], newer_format=newer)
    generations: dict[str, list[pb.Schema]] = defaultdict(list)
    for tag in sorted(schemas, key=lambda t: (t.generation, t.group)):
        generations[tag.group].append(schemas[tag])
    groups = {group: _group(group, found, by_tag, problems) for group, found in generations.items()}
    incidents = last_message(by_tag.get(INCIDENTS), pb.Incidents, problems)
    causes = last_message(by_tag.get(CAUSES), pb.Causes, problems)
    return RunLog(
        groups,
        tuple(incidents.incidents) if incidents else (),
        tuple(causes.causes) if causes else (),
        tuple(problems),
    )


def newer_format_sentence(version: int) -> str:
    """What to tell somebody whose log is newer than this software."""
    return (
        f"This run was written in format {version}; this version of tb_gradhealth reads up to format {FORMAT_VERSION}. "
        "Upgrade tb_gradhealth where you read it: pip install -U tb_gradhealth"
    )


def union_schema(generations: Sequence[pb.Schema]) -> tuple[pb.Schema, list[Array]]:
    """One schema over several generations of a group, oldest first.

    Variables are the same when their names are, and their rank among equal names (two layers may share a name).

    Returns:
      the schema, and for each generation the row in it of each of its own rows: int64 ``[rows]``.
    """
    latest = generations[-1]
    union = pb.Schema()
    union.CopyFrom(latest)
    union.replicas = max(max(s.replicas, 1) for s in generations)
    index = {key: i for i, key in enumerate(_keys(latest))}
    for schema in reversed(generations[:-1]):
        for key, variable in zip(_keys(schema), schema.variables, strict=True):
            if key not in index:
                index[key] = len(union.variables)
                union.variables.append(variable)
    width = len(union.variables)
    places = []
    for schema in generations:
        columns = np.array([index[key] for key in _keys(schema)], np.int64)
        replicas = np.arange(max(schema.replicas, 1))[:, None]
        places.append((replicas * width + columns).ravel())
    return union, places


def spread(windows: Windows, place: Array, rows: int) -> Windows:
    """The same windows over `rows` rows: row i goes to row ``place[i]``, the rest is not recorded."""
    if len(place) == rows and np.array_equal(place, np.arange(rows)):
        return windows
    wide = Windows.blank(len(windows), rows)
    for column in SCALARS:
        getattr(wide, column.name)[:] = getattr(windows, column.name)
    for column in ROWS:
        getattr(wide, column.name)[:, place] = getattr(windows, column.name)
    return wide


def cut_back(parts: Sequence[Windows]) -> list[Windows]:
    """Each part without the steps that a later part repeats.

    A window that reaches into the repeated steps keeps its evidence and ends before them.
    """
    kept: list[Windows] = []
    limit: int | None = None
    for whole in reversed(parts):
        part = whole
        if limit is not None:
            begun = whole.select(whole.first_step < limit)
            part = dataclasses.replace(begun, last_step=np.minimum(begun.last_step, limit - 1))
        if len(part):
            first = int(part.first_step[0])
            limit = first if limit is None else min(limit, first)
        kept.append(part)
    return kept[::-1]


def _keys(schema: pb.Schema) -> list[tuple[str, int]]:
    counts: dict[str, int] = defaultdict(int)
    keys = []
    for variable in schema.variables:
        keys.append((variable.name, counts[variable.name]))
        counts[variable.name] += 1
    return keys


def _schemas(by_tag: dict[str, list[Stored]], problems: list[str]) -> dict[SeriesTag, pb.Schema]:
    schemas = {}
    for name, elements in by_tag.items():
        tag = parse(name)
        if tag is not None and tag.kind == "schema":
            schema = last_message(elements, pb.Schema, problems)
            if schema is not None:
                schemas[tag] = schema
    return schemas


def _group(group: str, generations: list[pb.Schema], by_tag: dict[str, list[Stored]], problems: list[str]) -> GroupLog:
    union, places = union_schema(generations)
    rows = len(union.variables) * union.replicas
    windows: list[Windows] = []
    flights: list[Windows] = []
    for schema, place in zip(generations, places, strict=True):
        own = len(place)
        found = sorted(
            (tag, elements)
            for name, elements in by_tag.items()
            if (tag := parse(name)) is not None and (tag.group, tag.generation) == (group, schema.generation)
        )
        for kind, into in (("records", windows), ("flight", flights)):
            elements = [e for tag, part in found if tag.kind == kind for e in part]
            into.append(spread(decode_elements(elements, own, problems), place, rows))
    in_order = [part for generation in windows for part in ascending(generation)]
    flight = Windows.concatenate(cut_back(flights))
    latest_first = flight.select(slice(None, None, -1))
    _, latest_of_step = np.unique(latest_first.first_step, return_index=True)
    return GroupLog(union, generations, Windows.concatenate(cut_back(in_order)), latest_first.select(latest_of_step))


def ascending(windows: Windows) -> list[Windows]:
    """The parts of windows in arrival order, cut where the steps do not go on but go back. At least one part."""
    back = np.flatnonzero(windows.first_step[1:] <= windows.last_step[:-1]) + 1
    bounds = [0, *back.tolist(), len(windows)]
    return [windows.select(slice(a, b)) for a, b in itertools.pairwise(bounds)]


def decode_elements(elements: Sequence[Stored], rows: int, problems: list[str]) -> Windows:
    """The windows of stored records, in their order; a damaged one is left out and told in `problems`."""
    parts = [Windows.blank(0, rows)]
    for element in elements:
        try:
            parts.append(decode([pb.Record.FromString(unsealed(element.payload))], [element.wall_time], rows))
        except (DecodeError, ValueError) as error:
            problems.append(f"{element.tag}, step {element.step}: {error}")
    return Windows.concatenate(parts)


def last_message(elements: Sequence[Stored] | None, message: type[_M], problems: list[str]) -> _M | None:
    """The last element that can be read as such a message; what could not be is told in `problems`."""
    for element in reversed(elements or ()):
        try:
            return message.FromString(unsealed(element.payload))
        except (DecodeError, ValueError) as error:
            problems.append(f"{element.tag}, step {element.step}: {error}")
    return None
