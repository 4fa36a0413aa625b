"""The report as an HTML fragment for a notebook cell: no scripts, nothing loaded, everything escaped."""

import html
from collections.abc import Iterator, Sequence

from tb_gradhealth.format.causes import Cause
from tb_gradhealth.health import Incident
from tb_gradhealth.report.model import RunReport
from tb_gradhealth.report.page_text import MAX_INCIDENTS, MAX_VARIABLES, norm_text, summary, where
from tb_gradhealth.report.sparks import LEGEND

_GLYPHS = {"unhealthy": "✕", "watch": "!", "healthy": "✓", None: "?"}
_WORDS = {"unhealthy": "unhealthy", "watch": "to watch", "healthy": "healthy", None: "no verdict"}
_EDGES = {"unhealthy": "#d50000", "watch": "#ff9100", "healthy": "#2e7d32", None: "#8d8d8d"}
_BOX = "border-left:4px solid {edge};padding:0 0 0 12px;margin:12px 0"
_MONO = "font-family:monospace;white-space:pre"


def report_html(logdir: str, runs: Sequence[RunReport]) -> str:
    """All runs; those that are not healthy unfolded."""
    head = f"<p><b>Gradient health of {_text(logdir)}</b> · {_text(summary(runs))}</p>"
    legend = f"<p><small>{_text(LEGEND)}</small></p>" if any(run.sparks for run in runs) else ""
    return f'<div class="tb-gradhealth">{head}{"".join(_run(run) for run in runs)}{legend}</div>'


def _text(text: str) -> str:
    return html.escape(text)


def _run(run: RunReport) -> str:
    health = run.health
    title = f"{_GLYPHS[health.verdict]} {run.name}: {_WORDS[health.verdict]}"
    grave = [i for i in health.incidents if i.severity != "info"]
    body = [f"<p>{_text(health.sentence)}</p>"]
    body += [f"<p>! {_text(problem)}</p>" for problem in health.problems]
    if grave:
        rest = f"<li>… and {len(grave) - MAX_INCIDENTS} more incidents</li>" if len(grave) > MAX_INCIDENTS else ""
        body.append(f"<ul>{''.join(_incident(i) for i in grave[:MAX_INCIDENTS])}{rest}</ul>")
    for cause in run.loose_causes[:MAX_INCIDENTS]:
        body.append(f"<p><b>{_text(cause.kind)}</b>, explained by itself</p>{_cause(cause)}")
    if run.ill:
        body.append("".join(_table(run)))
    if health.checked and health.verdict is not None:
        body.append(f"<p><small>Checked: {_text('; '.join(health.checked))}</small></p>")
    opened = "" if health.verdict == "healthy" else " open"
    return (
        f'<details{opened} style="{_BOX.format(edge=_EDGES[health.verdict])}">'
        f"<summary><b>{_text(title)}</b></summary>{''.join(body)}</details>"
    )


def _incident(incident: Incident) -> str:
    state = "" if incident.open else " (passed)"
    cause = _cause(incident.cause) if incident.cause else ""
    return f"<li><b>{_text(incident.kind)}</b>{state}: {_text(incident.sentence)}{cause}</li>"


def _cause(cause: Cause) -> str:
    sure = "" if cause.certainty == "certain" else f" ({cause.certainty})"
    code = f'<div style="{_MONO}">{_text(cause.code)}</div>' if cause.code else ""
    evidence = "".join(f"<div>{_text(e)}</div>" for e in cause.evidence)
    fix = f"<div><b>To do:</b> {_text(cause.fix)}</div>" if cause.fix else ""
    place = f"<div>cause{sure}: <code>{_text(where(cause))}</code></div>"
    return f"{place}{code}<div>{_text(cause.reason)}</div>{evidence}{fix}"


def _table(run: RunReport) -> Iterator[str]:
    yield "<table><tr><th>state</th><th>since step</th><th>norm</th><th>variable</th><th>history</th></tr>"
    for variable in run.ill[:MAX_VARIABLES]:
        since = "" if variable.since is None else str(variable.since)
        spark = run.sparks.get((variable.group, variable.index))
        cells = (variable.state, since, norm_text(variable), variable.name)
        yield "<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in cells)
        yield f'<td style="{_MONO}">{_text(spark.text()) if spark else ""}</td></tr>'
    yield "</table>"
    if len(run.ill) > MAX_VARIABLES:
        yield f"<p>… and {len(run.ill) - MAX_VARIABLES} more ill variables</p>"
