"""The report as a page for the terminal: worst first, glyph and words, colour never alone."""

import dataclasses
import textwrap
from collections.abc import Iterator, Sequence

from tb_gradhealth.format.causes import Cause
from tb_gradhealth.health import Incident, VariableHealth
from tb_gradhealth.health.words import number, plural
from tb_gradhealth.report.model import RunReport
from tb_gradhealth.report.sparks import ASCII_LEGEND, LEGEND

_GLYPHS = {"unhealthy": "✕", "watch": "!", "healthy": "✓", "": "?"}
_ASCII = {"✕": "X", "✓": "ok", "–": "-", "→": "->", "…": "...", "·": "|"}
_COLOURS = {"unhealthy": "31", "bad": "31", "watch": "33", "healthy": "32", "info": "2"}
MAX_INCIDENTS = 20
MAX_VARIABLES = 30
MAX_HEALTHY_RUNS = 20


@dataclasses.dataclass(frozen=True)
class Style:
    """How a page looks.

    Attributes:
      width: columns of the terminal; file names and code are never cut.
    """

    colour: bool = False
    ascii_only: bool = False
    width: int = 100

    def paint(self, text: str, what: str) -> str:
        return f"\x1b[{_COLOURS[what]}m{text}\x1b[0m" if self.colour and what in _COLOURS else text

    def plain(self, text: str) -> str:
        """The text in characters that the terminal has; what a user wrote keeps its own."""
        if self.ascii_only:
            for glyph, spelled in _ASCII.items():
                text = text.replace(glyph, spelled)
        return text


def report_text(logdir: str, runs: Sequence[RunReport], style: Style) -> str:
    """All runs, ending in a newline."""
    lines = [f"Gradient health of {logdir} · {summary(runs)}", ""]
    quiet = [run for run in runs if run.health.verdict == "healthy" and len(runs) > 1]
    legend = any(run.sparks for run in runs if run not in quiet)
    for run in runs:
        if run not in quiet:
            lines += [*_run(run, style), ""]
    for run in quiet[:MAX_HEALTHY_RUNS]:
        lines.append(style.paint(f"{_GLYPHS['healthy']} {run.name}: healthy, {_extent(run)}", "healthy"))
    if len(quiet) > MAX_HEALTHY_RUNS:
        lines.append(f"  … and {len(quiet) - MAX_HEALTHY_RUNS} more healthy runs")
    if quiet:
        lines.append("")
    if legend:
        lines += [ASCII_LEGEND if style.ascii_only else LEGEND, ""]
    return style.plain("\n".join(lines).rstrip("\n") + "\n")


def summary(runs: Sequence[RunReport]) -> str:
    """``"3 runs: 1 unhealthy, 2 healthy"``."""
    counts = [
        (sum(run.health.verdict == verdict for run in runs), word)
        for verdict, word in (("unhealthy", "unhealthy"), ("watch", "to watch"), ("healthy", "healthy"))
    ]
    counts.append((sum(run.health.verdict is None for run in runs), "without a verdict"))
    return f"{plural(len(runs), 'run')}: " + ", ".join(f"{n} {word}" for n, word in counts if n)


def where(cause: Cause) -> str:
    """``"train.py:41"``, or what operation it was where no line is known."""
    return f"{cause.file}:{cause.line}" if cause.line else cause.op


def norm_text(variable: VariableHealth) -> str:
    """Three digits, empty where there is no norm."""
    return "" if variable.norm is None else number(variable.norm)


def _run(run: RunReport, style: Style) -> Iterator[str]:
    health = run.health
    verdict = health.verdict or ""
    yield style.paint(f"{_GLYPHS[verdict]} {run.name}: {verdict or 'no verdict'}, {_extent(run)}", verdict)
    yield from _wrapped(health.sentence, style, "  ")
    for problem in health.problems:
        yield from _wrapped(f"! {problem}", style, "  ")
    yield from _incidents(health.incidents, style)
    for cause in run.loose_causes[:MAX_INCIDENTS]:
        yield ""
        yield f"  {cause.kind}, explained by itself"
        yield from _cause(cause, style)
    yield from _variables(run, style)
    if health.checked and health.verdict is not None:
        yield from _wrapped("Checked: " + "; ".join(health.checked), style, "  ")


def _extent(run: RunReport) -> str:
    health = run.health
    if health.first_step is None:
        return "no step recorded yet"
    return f"steps {health.first_step}–{health.last_step}, {plural(len(health.variables), 'variable')}"


def _incidents(incidents: Sequence[Incident], style: Style) -> Iterator[str]:
    grave = [i for i in incidents if i.severity != "info"]
    told: set[str] = set()
    for incident in grave[:MAX_INCIDENTS]:
        mark = "✕" if incident.severity == "bad" else "!"
        state = "" if incident.open else " (passed)"
        yield ""
        yield style.paint(f"  {mark} {incident.kind}, {_steps(incident)}{state}", incident.severity)
        yield from _wrapped(incident.sentence, style, "    ")
        if len(incident.variables) > 1:
            yield from _wrapped("in " + _names(incident.variables), style, "    ")
        if incident.cause is not None:
            again = incident.cause.id in told
            told.add(incident.cause.id)
            yield from (_cause_again(incident.cause) if again else _cause(incident.cause, style))
    if len(grave) > MAX_INCIDENTS:
        yield f"  … and {len(grave) - MAX_INCIDENTS} more incidents (--json has all)"
    harmless = len(incidents) - len(grave)
    if harmless:
        yield ""
        yield f"  {plural(harmless, 'harmless incident')} left out (--json has all)"


def _steps(incident: Incident) -> str:
    if incident.first_step == incident.last_step:
        return f"step {incident.first_step}"
    return f"steps {incident.first_step}–{incident.last_step}"


def _names(names: Sequence[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _cause(cause: Cause, style: Style) -> Iterator[str]:
    sure = "" if cause.certainty == "certain" else f" ({cause.certainty})"
    yield f"    cause{sure}: {where(cause)}"
    if cause.code:
        yield f"      {cause.code}"
    yield from _wrapped(cause.reason, style, "      ")
    for evidence in cause.evidence:
        yield from _wrapped(f"- {evidence}", style, "      ")
    if cause.fix:
        yield from _wrapped(f"→ {cause.fix}", style, "      ")


def _cause_again(cause: Cause) -> Iterator[str]:
    yield f"    cause: {where(cause)}, as above"


def _variables(run: RunReport, style: Style) -> Iterator[str]:
    ill = run.ill
    if not ill:
        return
    names = max(len(v.name) for v in ill[:MAX_VARIABLES])
    yield ""
    yield f"  {'state':<12} {'since':>9} {'norm':>9}  {'variable':<{names}}  history"
    for variable in ill[:MAX_VARIABLES]:
        since = "" if variable.since is None else f"{variable.since}"
        spark = run.sparks.get((variable.group, variable.index))
        history = spark.text(ascii_only=style.ascii_only) if spark else ""
        norm = norm_text(variable)
        yield f"  {variable.state:<12} {since:>9} {norm:>9}  {variable.name:<{names}}  {history}".rstrip()
    if len(ill) > MAX_VARIABLES:
        yield f"  … and {len(ill) - MAX_VARIABLES} more ill variables (--json has all)"
    well = len(run.health.variables) - len(ill)
    if well:
        yield f"  {plural(well, 'other variable')}: nothing to see"
    yield ""


def _wrapped(text: str, style: Style, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        max(style.width, 40),
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
