"""From variables and incidents to one word and one sentence."""

from collections.abc import Sequence

from tb_gradhealth.health import words
from tb_gradhealth.health.results import Incident, VariableHealth

VERDICTS = ("healthy", "watch", "unhealthy")
"""From good to bad."""


def verdict_of(variables: Sequence[VariableHealth], incidents: Sequence[Incident]) -> str:
    """``"unhealthy"`` while something bad lasts, ``"watch"`` for milder things and for what has passed."""
    if any(i.severity == "bad" and i.open for i in incidents):
        return "unhealthy"
    if any(i.severity in ("bad", "watch") for i in incidents):
        return "watch"
    return "healthy"


def sentence_of(verdict: str | None, variables: Sequence[VariableHealth], incidents: Sequence[Incident]) -> str:
    """The verdict for people: the gravest incident in words, and how many others there are."""
    if verdict is None:
        return "No step has been recorded yet."
    worst = [i for i in incidents if i.severity != "info"]
    worst.sort(key=lambda i: (i.severity != "bad", not i.open))
    if worst:
        more = f" And {words.plural(len(worst) - 1, 'other incident')}." if len(worst) > 1 else ""
        head = "Unhealthy" if verdict == "unhealthy" else "Watch"
        passed = "" if worst[0].open or worst[0].severity != "bad" else " It has passed."
        return f"{head}: {worst[0].sentence}{passed}{more}"
    trained = [v for v in variables if v.role == "trained" and not v.expected_none]
    reached = "the one trained variable" if len(trained) == 1 else f"all {len(trained):,} trained variables"
    return f"Healthy: gradients reached {reached} and nothing else stood out."
