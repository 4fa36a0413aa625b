"""The report as other programs read it. The names of fields are a contract: added to, never renamed.

``{"format": 1, "runs": [{"run", "verdict", "first_step", "last_step", "variables": […], "incidents": […], …}]}``
"""

import math
from collections.abc import Mapping, Sequence

from tb_gradhealth.format.causes import Cause
from tb_gradhealth.health import Incident, VariableHealth
from tb_gradhealth.report.model import RunReport

FORMAT = 1


def report_json(runs: Sequence[RunReport]) -> dict[str, object]:
    """The whole report, ready for `json.dumps(allow_nan=False)`."""
    return {"format": FORMAT, "runs": [run_json(run) for run in runs]}


def run_json(run: RunReport) -> dict[str, object]:
    """One run."""
    health = run.health
    return {
        "run": run.name,
        "first_step": health.first_step,
        "last_step": health.last_step,
        "steps": health.steps,
        "verdict": health.verdict,
        "sentence": health.sentence,
        "variables": [variable_json(v) for v in health.variables],
        "incidents": [incident_json(i) for i in health.incidents],
        "causes": [cause_json(c) for c in health.causes],
        "checked": list(health.checked),
        "problems": list(health.problems),
        "newer_format": health.newer_format,
    }


def variable_json(variable: VariableHealth) -> dict[str, object]:
    """One variable."""
    return {
        "name": variable.name,
        "group": variable.group,
        "shape": list(variable.shape),
        "dtype": variable.dtype,
        "layer": variable.layer,
        "role": variable.role,
        "expected_none": variable.expected_none,
        "state": variable.state,
        "since": variable.since,
        "norm": _finite(variable.norm),
        "rule": variable.rule,
        "evidence": _evidence(variable.evidence),
    }


def incident_json(incident: Incident) -> dict[str, object]:
    """One incident, its cause inside."""
    return {
        "kind": incident.kind,
        "rule": incident.rule,
        "severity": incident.severity,
        "group": incident.group,
        "first_step": incident.first_step,
        "last_step": incident.last_step,
        "steps": incident.steps,
        "open": incident.open,
        "variables": list(incident.variables),
        "sentence": incident.sentence,
        "evidence": _evidence(incident.evidence),
        "cause": None if incident.cause is None else cause_json(incident.cause),
    }


def cause_json(cause: Cause) -> dict[str, object]:
    """One cause."""
    return {
        "op": cause.op,
        "file": cause.file,
        "line": cause.line,
        "code": cause.code,
        "phase": cause.phase,
        "reason": cause.reason,
        "reason_id": cause.reason_id,
        "fix": cause.fix,
        "certainty": cause.certainty,
        "kind": cause.kind,
        "group": cause.group,
        "variables": list(cause.variables),
        "step": cause.step,
        "evidence": list(cause.evidence),
        "replica": cause.replica,
    }


def _evidence(evidence: Mapping[str, float]) -> dict[str, float | None]:
    return {name: _finite(value) for name, value in evidence.items()}


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
