"""Which cause belongs to which incident."""

import dataclasses
from collections.abc import Sequence

from tb_gradhealth.format.causes import CERTAINTIES, Cause
from tb_gradhealth.health.results import Incident

_ALIKE = {"nan": ("nan", "inf", "overflow"), "inf": ("inf", "nan", "overflow"), "overflow": ("overflow", "inf", "nan")}


def explained(incidents: Sequence[Incident], causes: Sequence[Cause]) -> tuple[Incident, ...]:
    """The incidents, each with the cause that explains it best, where one does."""
    return tuple(dataclasses.replace(i, cause=cause_of(i, causes) or i.cause) for i in incidents)


def cause_of(incident: Incident, causes: Sequence[Cause]) -> Cause | None:
    """The cause of the incident's kind and group that shares most variables with it; the surest, the earliest first.

    A NaN may be explained by an Inf (``inf - inf``) and the other way round; the incident's own kind goes first.
    """
    kinds = _ALIKE.get(incident.kind, (incident.kind,))
    ill = frozenset(incident.variables)

    def rank(cause: Cause) -> tuple[int, int, int, int]:
        shared = len(ill.intersection(cause.variables))
        return kinds.index(cause.kind), -shared, CERTAINTIES.index(cause.certainty), cause.step

    fitting = [c for c in causes if c.kind in kinds and c.group in ("", incident.group) and _touches(c, incident, ill)]
    return min(fitting, key=rank, default=None)


def _touches(cause: Cause, incident: Incident, ill: frozenset[str]) -> bool:
    if cause.variables and ill and ill.isdisjoint(cause.variables):
        return False
    return cause.step < 0 or incident.kind in ("none", "zero") or cause.step <= incident.last_step
