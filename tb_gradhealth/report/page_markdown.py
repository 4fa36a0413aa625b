"""The report as Markdown: for a pull request, an issue, a notebook, and the dashboard's export."""

import re
from collections.abc import Iterator, Sequence

from tb_gradhealth.format.causes import Cause
from tb_gradhealth.format.log import RunLog
from tb_gradhealth.health import Incident, RunHealth
from tb_gradhealth.health.words import plural
from tb_gradhealth.report.model import RunReport
from tb_gradhealth.report.page_text import MAX_INCIDENTS, MAX_VARIABLES, norm_text, summary, where

_GLYPHS = {"unhealthy": "❌", "watch": "⚠️", "healthy": "✅", None: "❔"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def report_markdown(logdir: str, runs: Sequence[RunReport]) -> str:
    """All runs."""
    parts = [f"# Gradient health of {code(logdir)}", f"{summary(runs)}"]
    return "\n\n".join([*parts, *(_run(run) for run in runs)]) + "\n"


def run_markdown(name: str, log: RunLog, health: RunHealth | None = None) -> str:
    """One run, by itself.

    Args:
      health: of the run, where it was judged already.
    """
    return _run(RunReport.of(name, log, health=health)) + "\n"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", text.replace("\n", " "))


def code(text: str) -> str:
    """Code in a line, whatever backticks it holds."""
    fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}".replace("\n", " ")


def _cell(text: str) -> str:
    return code(text).replace("|", "\\|")


def _run(run: RunReport) -> str:
    health = run.health
    blocks = [f"## {_GLYPHS[health.verdict]} {escaped(run.name)}", escaped(health.sentence)]
    blocks += [f"> {escaped(problem)}" for problem in health.problems]
    grave = [i for i in health.incidents if i.severity != "info"]
    blocks += [_incident(i) for i in grave[:MAX_INCIDENTS]]
    if len(grave) > MAX_INCIDENTS:
        blocks.append(f"… and {len(grave) - MAX_INCIDENTS} more incidents")
    for cause in run.loose_causes[:MAX_INCIDENTS]:
        blocks.append("\n".join([f"- **{cause.kind}**, explained by itself", *_cause(cause)]))
    if run.ill:
        blocks.append("\n".join(_table(run)))
    if health.checked and health.verdict is not None:
        blocks.append("Checked: " + escaped("; ".join(health.checked)))
    return "\n\n".join(blocks)


def _incident(incident: Incident) -> str:
    state = "still going on" if incident.open else "passed"
    head = f"**{incident.kind}**, {plural(incident.steps, 'step')}, {state}: {escaped(incident.sentence)}"
    return "\n".join([f"- {head}", *(_cause(incident.cause) if incident.cause else ())])


def _cause(cause: Cause) -> Iterator[str]:
    sure = "" if cause.certainty == "certain" else f" ({cause.certainty})"
    line = f" {code(cause.code)}" if cause.code else ""
    yield f"  - cause{sure}: {code(where(cause))}{line}"
    yield f"  - {escaped(cause.reason)}"
    for evidence in cause.evidence:
        yield f"  - {escaped(evidence)}"
    if cause.fix:
        yield f"  - **to do:** {escaped(cause.fix)}"


def _table(run: RunReport) -> Iterator[str]:
    yield "| state | since step | norm | variable | history |"
    yield "| --- | ---: | ---: | --- | --- |"
    for variable in run.ill[:MAX_VARIABLES]:
        since = "" if variable.since is None else str(variable.since)
        spark = run.sparks.get((variable.group, variable.index))
        history = code(spark.text()) if spark else ""
        yield f"| {variable.state} | {since} | {norm_text(variable)} | {_cell(variable.name)} | {history} |"
    if len(run.ill) > MAX_VARIABLES:
        yield f"| … | | | and {len(run.ill) - MAX_VARIABLES} more | |"
