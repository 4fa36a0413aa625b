"""Variables that no gradient can reach because of where they stand: not handed over, or not tracked by their layer."""

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.health import words
from tb_gradhealth.health.results import Incident
from tb_gradhealth.health.tracker import Tracker

_KINDS = (
    (
        pb.Variable.NOT_HANDED_OVER,
        "not_handed_over",
        "{who}: trainable, but never handed to the optimizer; it keeps its first value.",
    ),
    (
        pb.Variable.UNTRACKED,
        "untracked",
        "{who}: used by a layer but not among its weights; it is neither trained nor saved.",
    ),
)


def role_incidents(tracker: Tracker) -> list[Incident]:
    """One incident, to watch, for each such role that some variable of the group has and the user did not name."""
    found = []
    layout = tracker.layout
    for role, rule, sentence in _KINDS:
        rows = tuple(i for i, v in enumerate(layout.schema.variables) if v.role == role and not v.expected_none)
        if not rows:
            continue
        names = layout.names_of(rows)
        found.append(
            Incident(
                kind="untracked",
                group=layout.schema.group,
                first_step=tracker.first_step or 0,
                last_step=tracker.last_step or 0,
                steps=tracker.steps,
                rows=rows,
                variables=names,
                severity="watch",
                evidence={"variables": float(len(rows))},
                sentence=sentence.format(who=words.who(names, layout.variables)),
                open=True,
                generation=layout.schema.generation,
                rule=rule,
            )
        )
    return found
