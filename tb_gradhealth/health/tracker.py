"""All rules over one group, fed as the windows come.

Promises: the state does not grow with the run; feeding the same windows in other portions gives the same result; each
incident is announced once, as soon as it is known to be more than a curiosity.
"""

import numpy as np

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.states import State
from tb_gradhealth.format.windows import Array, Windows
from tb_gradhealth.health.block import Block
from tb_gradhealth.health.episodes import Episode
from tb_gradhealth.health.layout import Layout
from tb_gradhealth.health.results import Incident
from tb_gradhealth.health.rules import RULES, Rule
from tb_gradhealth.health.stretches import StretchBuilder, log_norms
from tb_gradhealth.health.thresholds import GivenThresholds, Thresholds

MAX_INCIDENTS = 200
_CHUNK = 256
"""Windows that the rules look at together: few enough for the cache, many enough for NumPy."""
_RANK = {"bad": 0, "watch": 1, "info": 2}


class Tracker:
    """The health of one group, step by step.

    Args:
      schema: of the group.
      thresholds: limits of the rules; those of the schema where None.
    """

    def __init__(self, schema: pb.Schema, thresholds: GivenThresholds = None) -> None:
        self.layout = Layout.of(schema)
        self.thresholds = Thresholds.of(schema, thresholds)
        self.rules: tuple[Rule, ...] = tuple(rule(self.layout, self.thresholds) for rule in RULES)
        self._stretches = StretchBuilder(self.layout)
        self.first_step: int | None = None
        self.last_step: int | None = None
        self.steps = 0
        self.windows = 0
        rows = self.layout.rows
        self._known: Array = np.zeros(rows, bool)
        self.last_state: Array = np.zeros(rows, np.uint8)
        """uint8 ``[rows]``: `State` at the latest step that recorded the row."""
        self.last_norm: Array = np.full(rows, np.nan, np.float32)

    def feed(self, windows: Windows) -> list[Incident]:
        """Takes in the next windows of the group, in order of steps.

        Returns:
          The incidents that are to be announced now: each once, the harmless ones never.

        Raises:
          ValueError: the windows have another number of rows than the schema.
        """
        if windows.row_count != self.layout.rows:
            raise ValueError(
                f"The windows do not fit the group {self.layout.schema.group!r}: {windows.row_count} rows, where "
                f"{self.layout.variables} variables on {self.layout.replicas} replicas make {self.layout.rows}. "
                "Make a new Tracker when the variables change."
            )
        for low in range(0, len(windows), _CHUNK):
            self._portion(windows.select(slice(low, low + _CHUNK)))
        return [self._incident(rule, episode) for rule, episode in self._unannounced()]

    def incidents(self) -> list[Incident]:
        """All incidents as they stand, the gravest first, then by first step; at most `MAX_INCIDENTS`."""
        found = [self._incident(rule, episode) for rule in self.rules for episode in rule.episodes.all]
        found.sort(key=lambda i: (_RANK[i.severity], not i.open, i.first_step))
        return sorted(found[:MAX_INCIDENTS], key=lambda i: (_RANK[i.severity], i.first_step))

    def to_proto(self) -> list[pb.Incident]:
        """`incidents` as they are stored: those that are worth keeping, the harmless ones show in the windows."""
        return [incident.to_proto() for incident in self.incidents() if incident.severity != "info"]

    def _portion(self, windows: Windows) -> None:
        """Cut where variables are recorded that never were before: thawed, or a new head."""
        recorded = windows.state_last != State.NOT_RECORDED
        start = 0
        while not self._known.all() and (new := recorded[start:] & ~self._known).any():
            at = start + int(new.any(axis=1).argmax())
            if at > start:
                self._take(windows.select(slice(start, at)))
            if self._known.any():
                for rule in self.rules:
                    rule.restart()
            self._known |= recorded[at]
            start = at
        if start < len(windows):
            self._take(windows.select(slice(start, None)))

    def _take(self, windows: Windows) -> None:
        if self.first_step is None:
            self.first_step = int(windows.first_step[0])
        self.last_step = int(windows.last_step[-1])
        self.steps += int(windows.steps.sum())
        logs, totals = log_norms(windows, self.layout)
        stretches = self._stretches.add(windows, logs, totals)
        block = Block(windows, self.layout, self.windows, logs, totals, stretches)
        for rule in self.rules:
            rule.feed(block)
        self.windows += len(windows)
        self._remember(windows)

    def _remember(self, windows: Windows) -> None:
        recorded = windows.state_last != State.NOT_RECORDED
        if recorded[-1].all():
            self.last_state, self.last_norm = windows.state_last[-1].copy(), windows.norm_last[-1].copy()
            return
        latest = len(windows) - 1 - recorded[::-1].argmax(axis=0)
        columns = np.arange(windows.row_count)
        known = recorded.any(axis=0)
        self.last_state = np.where(known, windows.state_last[latest, columns], self.last_state)
        self.last_norm = np.where(known, windows.norm_last[latest, columns], self.last_norm)

    def _unannounced(self) -> list[tuple[Rule, Episode]]:
        found = []
        for rule in self.rules:
            for episode in rule.episodes.all:
                if episode.announced or not episode.touched:
                    continue
                if not rule.worth_telling(episode):
                    continue
                episode.touched = False
                if rule.severity(episode) == "info":
                    continue
                episode.announced = True
                found.append((rule, episode))
        return found

    def _incident(self, rule: Rule, episode: Episode) -> Incident:
        rows = () if rule.whole_group else tuple(episode.rows)
        return Incident(
            kind=rule.kind,
            group=self.layout.schema.group,
            first_step=episode.first,
            last_step=episode.last,
            steps=min(episode.steps, episode.last - episode.first + 1),
            rows=rows,
            variables=self.layout.names_of(rows),
            severity=rule.severity(episode),
            evidence=rule.evidence(episode),
            sentence=rule.sentence(episode),
            open=rule.is_open(episode),
            generation=self.layout.schema.generation,
            rule=rule.name,
        )
