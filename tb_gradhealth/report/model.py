"""A report before it has a form: the health of each run below a log directory, the worst first.

Promises: reading never changes anything; a run that cannot be read is told about and costs only itself.
"""

import dataclasses
import fnmatch
import os
from collections.abc import Iterable, Mapping, Sequence

from tb_gradhealth.format.causes import Cause
from tb_gradhealth.format.log import RunLog
from tb_gradhealth.format.reader import find_runs, read_run
from tb_gradhealth.health import STATE_ORDER, GivenThresholds, Incident, RunHealth, VariableHealth, assess
from tb_gradhealth.health.verdict import VERDICTS, sentence_of, verdict_of
from tb_gradhealth.report.sparks import Spark, sparks_of

DEFAULT_FAIL_ON = ("nan", "inf", "none", "error")
_QUIET_STATES = ("ok", "frozen", "not_recorded")
_MAX_SPARKS = 200


@dataclasses.dataclass(frozen=True)
class RunReport:
    """One run.

    Attributes:
      name: relative to the log directory.
      health: see there.
      sparks: histories of the ill variables, by group and index.
    """

    name: str
    health: RunHealth
    sparks: Mapping[tuple[str, int], Spark]

    @classmethod
    def of(
        cls,
        name: str,
        log: RunLog,
        *,
        since: int | None = None,
        thresholds: GivenThresholds = None,
        health: RunHealth | None = None,
    ) -> "RunReport":
        """The report on a run that was read.

        Args:
          since: leaves out what had ended before this step. The rules still see the whole run.
          thresholds: limits of the rules: all, or some by name; those that the run was recorded with where None.
          health: of the run, where it was judged already.
        """
        health = assess(log, thresholds) if health is None else health
        if since is not None:
            health = _since(health, since)
        sparks: dict[tuple[str, int], Spark] = {}
        for group_name, group in log.groups.items():
            ill = [v.index for v in ill_variables(health) if v.group == group_name][:_MAX_SPARKS]
            for index, spark in sparks_of(group, ill, since).items():
                sparks[group_name, index] = spark
        return cls(name, health, sparks)

    @property
    def ill(self) -> tuple[VariableHealth, ...]:
        """The variables to look at, worst first."""
        return ill_variables(self.health)

    def found(self, kinds: Iterable[str]) -> list[Incident]:
        """The incidents that `--fail-on` with these words means; the harmless ones never count."""
        words = set(kinds)
        grave = [i for i in self.health.incidents if i.severity != "info"]
        graded = {"unhealthy": {"unhealthy", "watch"}, "watch": {"watch"}}.get(self.health.verdict or "", set())
        return grave if graded & words else [i for i in grave if i.kind in words]

    @property
    def loose_causes(self) -> tuple[Cause, ...]:
        """Causes that belong to no incident: of an error before the first step, or a second guess."""
        told = {i.cause.id for i in self.health.incidents if i.cause is not None}
        return tuple(c for c in self.health.causes if c.id not in told)

    @property
    def unread(self) -> bool:
        """Whether nothing could be said for want of a readable log."""
        return self.health.newer_format is not None or (self.health.verdict is None and bool(self.health.problems))


class Report:
    """The runs below a log directory, worst first. In a notebook cell it shows itself.

    Args:
      logdir: what `tensorboard --logdir` is given, or a run's own directory.
      runs: names or shell patterns of the runs to report on; None: all.
      since: leaves out what had ended before this step.
      thresholds: limits of the rules: all, or some by name; those that the run was recorded with where None.

    Raises:
      FileNotFoundError: there is no such directory.
      LookupError: no run below it has gradient health records, or none of those asked for.

    Example:
      >>> from tb_gradhealth.report import Report
      >>> Report("logs")  # doctest: +SKIP
    """

    def __init__(
        self,
        logdir: str | os.PathLike[str],
        *,
        runs: Sequence[str] | None = None,
        since: int | None = None,
        thresholds: GivenThresholds = None,
    ) -> None:
        self.logdir = os.fspath(logdir)
        self.since = since
        found = [
            RunReport.of(name, _read(self.logdir, name), since=since, thresholds=thresholds)
            for name in _chosen(self.logdir, runs)
        ]
        self.runs: tuple[RunReport, ...] = tuple(sorted(found, key=_badness))

    def exit_code(self, fail_on: Sequence[str] = DEFAULT_FAIL_ON) -> int:
        """0: nothing that `fail_on` names; 1: something; 2: no run could be judged, or one was too new to be read."""
        if any(run.found(fail_on) for run in self.runs):
            return 1
        return 2 if any(run.unread for run in self.runs) or all(run.health.verdict is None for run in self.runs) else 0

    def to_json(self) -> dict[str, object]:
        """As other programs read it; numbers that are not finite are None."""
        from tb_gradhealth.report.page_json import report_json

        return report_json(self.runs)

    def text(self, *, colour: bool = False, ascii_only: bool = False, width: int = 100) -> str:
        """As a page for the terminal."""
        from tb_gradhealth.report.page_text import Style, report_text

        return report_text(self.logdir, self.runs, Style(colour=colour, ascii_only=ascii_only, width=width))

    def markdown(self) -> str:
        from tb_gradhealth.report.page_markdown import report_markdown

        return report_markdown(self.logdir, self.runs)

    def html(self) -> str:
        """A fragment without scripts or outside resources."""
        from tb_gradhealth.report.page_html import report_html

        return report_html(self.logdir, self.runs)

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()

    def _repr_markdown_(self) -> str:
        return self.markdown()


def ill_variables(health: RunHealth) -> tuple[VariableHealth, ...]:
    """Those with an illness, the worst and earliest first; expected ones are left out."""
    ill = [v for v in health.variables if v.state not in _QUIET_STATES and v.rule != "expected_none"]
    return tuple(sorted(ill, key=lambda v: (STATE_ORDER.index(v.state), -1 if v.since is None else v.since)))


def _chosen(logdir: str, patterns: Sequence[str] | None) -> list[str]:
    names = find_runs(logdir)
    if not names:
        raise LookupError(
            f"No run below {logdir!r} has gradient health records. "
            "Record some with tb_gradhealth.GradHealthCallback, watch or GradHealthWriter, and pass that log directory."
        )
    if patterns is None:
        return names
    chosen = [name for name in names if any(fnmatch.fnmatchcase(name, p) or _below(name, p) for p in patterns)]
    if not chosen:
        shown = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
        raise LookupError(f"No run matches {', '.join(map(repr, patterns))}. There are: {shown}")
    return chosen


def _below(name: str, pattern: str) -> bool:
    """``run1`` means ``run1/gradhealth`` too: that is the directory the user named when recording."""
    return fnmatch.fnmatchcase(name, f"{pattern.rstrip('/')}/*")


def _read(logdir: str, name: str) -> RunLog:
    directory = logdir if name == "." else f"{logdir.rstrip('/')}/{name}" if "://" in logdir else _joined(logdir, name)
    try:
        return read_run(directory)
    except OSError as error:
        return RunLog({}, problems=[f"{directory} could not be read: {error}"])


def _joined(logdir: str, name: str) -> str:
    return os.path.join(logdir, *name.split("/"))


def _badness(run: RunReport) -> tuple[int, str]:
    verdict = run.health.verdict
    return (1 if verdict is None else -VERDICTS.index(verdict)), run.name


def _since(health: RunHealth, step: int) -> RunHealth:
    incidents = tuple(i for i in health.incidents if i.last_step >= step or i.open)
    verdict = None if health.verdict is None else verdict_of(health.variables, incidents)
    return dataclasses.replace(
        health,
        incidents=incidents,
        verdict=verdict,
        sentence=health.sentence if verdict is None else sentence_of(verdict, health.variables, incidents),
    )
