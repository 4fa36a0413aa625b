"""Incidents as the writer stored them, laid over those found in the stored windows.

The writer saw every step; the windows may be wide, or sampled away. So a stored incident dates the found one that it
overlaps, and stands for itself where the windows do not show it.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.windows import Array
from tb_gradhealth.health import words
from tb_gradhealth.health.layout import Layout
from tb_gradhealth.health.results import Incident
from tb_gradhealth.health.timeline import Timeline

_EXACT = ("nan", "inf", "none", "zero", "overflow")
"""Kinds that a window shows however wide it is."""
_SEVERITY = {"nan": "bad", "inf": "bad", "none": "bad"}


def with_stored(
    found: Sequence[Incident],
    stored: Sequence[pb.Incident],
    layout: Layout,
    places: Mapping[int, Array],
    timeline: Timeline,
) -> list[Incident]:
    """The found incidents, dated exactly where a stored one overlaps, and the stored ones that nothing contradicts.

    Args:
      found, stored: of one group.
      places: for each generation of the group, the row of `layout` of each of its rows.
      timeline: of the windows in which `found` was found.
    """
    result = list(found)
    for message in sorted(stored, key=lambda m: m.first_step, reverse=True):
        rows = _rows(message, places)
        index = _match(found, message, rows)
        if index is not None:
            result[index] = _dated(result[index], found[index], message, timeline)
        elif not _contradicted(message, timeline):
            result.append(_standing_alone(message, rows, layout))
    return result


def _rows(message: pb.Incident, places: Mapping[int, Array]) -> tuple[int, ...]:
    place = places.get(message.generation)
    if place is None:
        return ()
    return tuple(int(place[row]) for row in message.rows if row < len(place))


def _match(found: Sequence[Incident], message: pb.Incident, rows: tuple[int, ...]) -> int | None:
    """The found incident that it is: of the same rule if there is one, else of the same kind."""
    best = None
    for index, incident in enumerate(found):
        overlap = incident.first_step <= message.last_step and message.first_step <= incident.last_step
        same = not rows or not incident.rows or not set(rows).isdisjoint(incident.rows)
        if incident.kind == message.kind and overlap and same:
            if message.rule in ("", incident.rule):
                return index
            best = index if best is None else best
    return best


def _dated(incident: Incident, found: Incident, message: pb.Incident, timeline: Timeline) -> Incident:
    """With the writer's steps in place of the bounds of the windows in which the incident began and ended."""
    first, last = incident.first_step, incident.last_step
    if found.first_step <= message.first_step <= _end_of_window(timeline, found.first_step):
        first = message.first_step
    if not found.open and _end_of_window(timeline, message.last_step) == found.last_step:
        last = max(message.last_step, first)
    if (first, last) == (incident.first_step, incident.last_step):
        return incident
    steps = min(incident.steps, last - first + 1)
    spelled = words.when(incident.first_step, incident.last_step, incident.steps, still=incident.open)
    exact = words.when(first, last, steps, still=incident.open)
    sentence = incident.sentence.replace(spelled, exact)
    return dataclasses.replace(incident, first_step=first, last_step=last, steps=steps, sentence=sentence)


def _end_of_window(timeline: Timeline, step: int) -> int:
    window = timeline.holding(step)
    return step if window is None else window[0]


def _contradicted(message: pb.Incident, timeline: Timeline) -> bool:
    """Whether windows were read that would show it and do not: its steps were trained anew after a restart."""
    window = timeline.holding(message.first_step)
    return window is not None and (message.kind in _EXACT or window[1] == 1)


def _standing_alone(message: pb.Incident, rows: tuple[int, ...], layout: Layout) -> Incident:
    count = layout.variables
    names = tuple(dict.fromkeys(layout.schema.variables[row % count].name for row in rows))
    spell = words.when(message.first_step, message.last_step, message.steps, still=message.open)
    what = f"{words.kind(message.kind)} {spell}"
    return Incident(
        kind=message.kind,
        group=message.group,
        first_step=message.first_step,
        last_step=message.last_step,
        steps=message.steps,
        rows=rows,
        variables=names,
        severity=message.severity or _SEVERITY.get(message.kind, "watch"),
        evidence=dict(message.evidence),
        sentence=f"{words.who(names, count)}: {what}, as the writer noted; its records were not read.",
        open=message.open,
        generation=message.generation,
        rule=message.rule or message.kind,
    )
