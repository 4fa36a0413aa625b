"""The answers of the routes ``runs`` and ``run``. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from tb_gradhealth import __version__
from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.causes import Cause
from tb_gradhealth.format.tags import SeriesTag, parse
from tb_gradhealth.health import Incident, RunHealth, VariableHealth
from tb_gradhealth.serve.numbers import sound
from tb_gradhealth.serve.run import Run, newer_format_of
from tb_gradhealth.serve.source import Series
from tb_gradhealth.serve.table import Table


def runs(
    names: Sequence[str], listing: Mapping[str, Mapping[str, Series]], known: Mapping[str, RunHealth]
) -> dict[str, Any]:
    """All runs, with what is known of each without reading it.

    Args:
      names: of all runs.
      listing: our series, by run.
      known: verdicts on runs that were asked for before and have not changed since.
    """
    return {
        "version": __version__,
        "runs": [_entry(name, listing.get(name, {}), known.get(name)) for name in sorted({*names, *listing})],
    }


def run(found: Run, health: RunHealth) -> dict[str, Any]:
    """All about one run but its matrix."""
    sampling = found.sampling
    answer = {
        "run": found.name,
        "revision": found.revision,
        "first_step": health.first_step,
        "last_step": health.last_step,
        "steps": health.steps,
        "wall_time": found.wall_time,
        "verdict": health.verdict,
        "sentence": health.sentence,
        "checked": list(health.checked),
        "groups": [
            _group(name, table, [v for v in health.variables if v.group == name])
            for name, table in found.tables.items()
        ],
        "incidents": [_incident(i, incident, found) for i, incident in enumerate(health.incidents)],
        "causes": [_cause(cause) for cause in health.causes],
        "sampling": None
        if sampling is None
        else {"shown": sampling.shown, "stored": sampling.stored, "flag": sampling.flag},
        "problems": list(health.problems),
        "newer_format": health.newer_format,
    }
    return dict(sound(answer))


def _entry(name: str, series: Mapping[str, Series], health: RunHealth | None) -> dict[str, Any]:
    newest: dict[str, SeriesTag] = {}
    for tag in sorted(t for name in series if (t := parse(name)) is not None and t.kind == "records"):
        newest[tag.group] = tag
    steps = [series[str(tag)].max_step for tag in newest.values()]
    return {
        "run": name,
        "has_data": bool(series),
        "verdict": health.verdict if health else None,
        "sentence": health.sentence if health else None,
        "first_step": health.first_step if health else None,
        "last_step": max(steps, default=None),
        "wall_time": max((s.max_wall_time for s in series.values()), default=None),
        "newer_format": health.newer_format if health else newer_format_of(series),
    }


def _group(name: str, table: Table, variables: Sequence[VariableHealth]) -> dict[str, Any]:
    schema = table.schema
    return {
        "name": name,
        "optimizer": schema.optimizer,
        "hooked": schema.hooked,
        "replicas": table.replicas,
        "every": schema.every,
        **{limit: _optional(schema, limit) for limit in ("clip_norm", "global_clip_norm", "clip_value")},
        "norm_of": schema.norm_of,
        "software": dict(sorted(schema.software.items())),
        "first_step": table.first_step,
        "last_step": table.last_step,
        "variables": [_variable(v) for v in variables],
    }


def _optional(schema: pb.Schema, name: str) -> float | None:
    return float(getattr(schema, name)) if schema.HasField(name) else None


def _variable(variable: VariableHealth) -> dict[str, Any]:
    return {
        "index": variable.index,
        "name": variable.name,
        "layer": variable.layer,
        "shape": list(variable.shape),
        "dtype": variable.dtype,
        "size": variable.size,
        "role": variable.role,
        "expected_none": variable.expected_none,
        "state": variable.state,
        "since": variable.since,
        "norm": variable.norm,
        "rule": variable.rule,
        "evidence": dict(variable.evidence),
    }


def _incident(index: int, incident: Incident, found: Run) -> dict[str, Any]:
    table = found.tables.get(incident.group)  # a step that failed before it was recorded has none
    count = 1 if table is None else max(table.variables, 1)
    return {
        "id": index,
        "kind": incident.kind,
        "severity": incident.severity,
        "group": incident.group,
        "first_step": incident.first_step,
        "last_step": incident.last_step,
        "steps": incident.steps,
        "variables": list(dict.fromkeys(row % count for row in incident.rows)),
        "replicas": sorted({row // count for row in incident.rows}),
        "sentence": incident.sentence,
        "evidence": dict(incident.evidence),
        "cause": incident.cause.id if incident.cause else None,
        "open": incident.open,
    }


def _cause(cause: Cause) -> dict[str, Any]:
    return {
        "id": cause.id,
        "kind": cause.kind,
        "reason_id": cause.reason_id,
        "reason": cause.reason,
        "op": cause.op,
        "file": cause.file,
        "line": cause.line,
        "code": cause.code,
        "phase": cause.phase,
        "fix": cause.fix,
        "certainty": cause.certainty,
        "variables": list(cause.variables),
        "step": cause.step,
        "evidence": list(cause.evidence),
        "replica": cause.replica,
        "group": cause.group,
    }
