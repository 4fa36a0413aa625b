"""What the rules say, as values: incidents, the health of each variable, the health of a run."""

import dataclasses

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.causes import Cause

STORED_ROWS = 200
"""Rows that a stored incident names at most; `row_count` says how many there were."""

STATE_ORDER = (
    "nan",
    "inf",
    "none",
    "exploding",
    "zero",
    "vanishing",
    "spiking",
    "oscillating",
    "overflow",
    "untracked",
    "not_recorded",
    "ok",
    "frozen",
)
"""Every word that `VariableHealth.state` can be, the one to look at first first."""


@dataclasses.dataclass(frozen=True)
class Incident:
    """Something that happened to some variables of a group, once or again and again.

    Attributes:
      kind: ``"none"``, ``"nan"``, ``"inf"``, ``"overflow"``, ``"zero"``, … as in `STATE_ORDER`.
      group: name of the group.
      first_step, last_step: the first and the last ill step.
      steps: ill steps in between, at most ``last_step - first_step + 1``.
      rows: ``replica * variables + variable`` of the ill ones, first ill first. Empty: it is the group as a whole.
      variables: their names, each variable once, first ill first.
      severity: ``"bad"`` (training is broken), ``"watch"`` (look at it), ``"info"`` (known and harmless).
      evidence: the numbers the rule went by.
      sentence: one sentence for people.
      open: still going on at the last recorded step.
      cause: why, where known.
      generation: of the schema the rows belong to.
      rule: which rule spoke, where one kind has several.
    """

    kind: str
    group: str
    first_step: int
    last_step: int
    steps: int
    rows: tuple[int, ...]
    variables: tuple[str, ...]
    severity: str
    evidence: dict[str, float]
    sentence: str
    open: bool
    cause: Cause | None = None
    generation: int = 0
    rule: str = ""

    def to_proto(self) -> pb.Incident:
        """As stored; names at most `STORED_ROWS` rows."""
        return pb.Incident(
            kind=self.kind,
            group=self.group,
            generation=self.generation,
            first_step=self.first_step,
            last_step=self.last_step,
            steps=self.steps,
            rows=self.rows[:STORED_ROWS],
            row_count=len(self.rows),
            evidence=self.evidence,
            cause_id=self.cause.id if self.cause else "",
            open=self.open,
            severity=self.severity,
            rule=self.rule,
        )


@dataclasses.dataclass(frozen=True)
class VariableHealth:
    """One variable at the end of what was recorded.

    Attributes:
      index: place among the group's variables.
      state: one of `STATE_ORDER`.
      since: first step of the present state, None for ``"ok"`` and where no step is known.
      norm: the last L2 norm, None where the last gradient had none; the largest over replicas.
      rule: the rule that decided the state, ``""`` for ``"ok"``.
      evidence: the numbers it went by.
    """

    index: int
    name: str
    group: str
    shape: tuple[int, ...]
    dtype: str
    size: int
    layer: str
    role: str
    expected_none: bool
    state: str
    since: int | None
    norm: float | None
    rule: str
    evidence: dict[str, float]


@dataclasses.dataclass(frozen=True)
class RunHealth:
    """The verdict on a run and what it rests on.

    Attributes:
      verdict: ``"healthy"``, ``"watch"``, ``"unhealthy"``; None when no step was recorded yet.
      sentence: the verdict in one sentence.
      first_step, last_step: of the run, None when there is no step yet.
      steps: recorded steps, of the group that has most.
      variables: of all groups, in their order.
      incidents: bad ones first, then by first step.
      causes: all that are known.
      checked: what was looked at, and what could not be.
      problems: what could not be read.
      newer_format: the log's format version where this software is too old for it.
    """

    verdict: str | None
    sentence: str
    first_step: int | None
    last_step: int | None
    steps: int
    variables: tuple[VariableHealth, ...]
    incidents: tuple[Incident, ...]
    causes: tuple[Cause, ...]
    checked: tuple[str, ...]
    problems: tuple[str, ...]
    newer_format: int | None
