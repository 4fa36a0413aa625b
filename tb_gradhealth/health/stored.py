"""Incidents as the writer stored them, laid over those found in the stored windows.

The writer saw every step; the windows may be wide, or sampled away. So a stored incident dates the found one that it
overlaps, and stands for itself where the windows do not show it.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.log import GroupLog, union_schema
from tb_gradhealth.format.windows import Array, Windows
from tb_gradhealth.health import words
from tb_gradhealth.health.results import Incident

_EXACT = ("nan", "inf", "none", "zero", "overflow")
"""Kinds that a window shows however wide it is."""
_SEVERITY = {"nan": "bad", "inf": "bad", "none": "bad"}


def with_stored(found: Sequence[Incident], stored: Sequence[pb.Incident], group: GroupLog) -> list[Incident]:
    """The found incidents, dated exactly where a stored one overlaps, and the stored ones that nothing contradicts."""
    places = _places(group)
    result = list(found)
    for message in sorted(stored, key=lambda m: m.first_step, reverse=True):
        rows = _rows(message, places)
        index = _match(found, message, rows)
        if index is not None:
            result[index] = _dated(result[index], found[index], message, group.windows)
        elif not _contradicted(message, group.windows):
            result.append(_standing_alone(message, rows, group))
    return result


def _places(group: GroupLog) -> dict[int, Array]:
    _, places = union_schema(group.generations)
    return {schema.generation: place for schema, place in zip(group.generations, places, strict=True)}


def _rows(message: pb.Incident, places: dict[int, Array]) -> tuple[int, ...]:
    place = places.get(message.generation)
    if place is None:
        return ()
    return tuple(int(place[row]) for row in message.rows if row < len(place))


def _match(found: Sequence[Incident], message: pb.Incident, rows: tuple[int, ...]) -> int | None:
    for index, incident in enumerate(found):
        overlap = incident.first_step <= message.last_step and message.first_step <= incident.last_step
        same = not rows or not incident.rows or not set(rows).isdisjoint(incident.rows)
        if incident.kind == message.kind and overlap and same:
            return index
    return None


def _dated(incident: Incident, found: Incident, message: pb.Incident, windows: Windows) -> Incident:
    """With the writer's steps in place of the bounds of the windows in which the incident began and ended."""
    first, last = incident.first_step, incident.last_step
    if found.first_step <= message.first_step <= _end_of_window(windows, found.first_step):
        first = message.first_step
    if not found.open and _end_of_window(windows, message.last_step) == found.last_step:
        last = max(message.last_step, first)
    if (first, last) == (incident.first_step, incident.last_step):
        return incident
    steps = min(incident.steps, last - first + 1)
    spelled = words.when(incident.first_step, incident.last_step, incident.steps, still=incident.open)
    exact = words.when(first, last, steps, still=incident.open)
    sentence = incident.sentence.replace(spelled, exact)
    return dataclasses.replace(incident, first_step=first, last_step=last, steps=steps, sentence=sentence)


def _end_of_window(windows: Windows, step: int) -> int:
    holding = np.flatnonzero((windows.first_step <= step) & (step <= windows.last_step))
    return int(windows.last_step[holding[-1]]) if holding.size else step


def _contradicted(message: pb.Incident, windows: Windows) -> bool:
    """Whether windows were read that would show it and do not: its steps were trained anew after a restart."""
    holding = np.flatnonzero((windows.first_step <= message.first_step) & (message.first_step <= windows.last_step))
    return bool(holding.size) and (message.kind in _EXACT or int(windows.steps[holding[-1]]) == 1)


def _standing_alone(message: pb.Incident, rows: tuple[int, ...], group: GroupLog) -> Incident:
    count = len(group.schema.variables)
    names = tuple(dict.fromkeys(group.schema.variables[row % count].name for row in rows))
    spell = words.when(message.first_step, message.last_step, message.steps, still=message.open)
    return Incident(
        kind=message.kind,
        group=message.group,
        first_step=message.first_step,
        last_step=message.last_step,
        steps=message.steps,
        rows=rows,
        variables=names,
        severity=_SEVERITY.get(message.kind, "watch"),
        evidence=dict(message.evidence),
        sentence=f"{words.who(names, count)}: {message.kind} {spell}, as the writer noted; its records were not read.",
        open=message.open,
        generation=message.generation,
        rule=message.kind,
    )
