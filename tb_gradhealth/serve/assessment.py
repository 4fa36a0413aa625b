"""The health of a run that is served: `health.assess` over its table, without ever having all of it decoded at once."""

from typing import Any, cast

from tb_gradhealth.format.columns import BY_NAME, ROWS
from tb_gradhealth.format.log import GroupLog, RunLog
from tb_gradhealth.format.windows import Windows
from tb_gradhealth.health import RunHealth, assess
from tb_gradhealth.serve.run import Run
from tb_gradhealth.serve.table import Table, decoded


def assess_run(run: Run) -> RunHealth:
    """What `health.assess` says of the run as `format.log.assemble` would put it together."""
    return assess(log_of(run))


def log_of(run: Run) -> RunLog:
    """The run as the other rooms take it. Its windows are decoded where and when they are looked at."""
    groups = {name: _group(run, name, table) for name, table in run.tables.items()}
    return RunLog(groups, run.incidents, run.causes, run.problems, run.newer_format)


def _group(run: Run, name: str, table: Table) -> GroupLog:
    windows = cast(Windows, _Streamed(table))
    return GroupLog(table.schema, table.generations, windows, Windows.blank(0, table.rows))


class _Streamed:
    """Quacks like the `Windows` of a whole table."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._scalars = table.scalars()

    def __len__(self) -> int:
        return len(self._scalars)

    @property
    def row_count(self) -> int:
        return self._table.rows

    def __getattr__(self, name: str) -> Any:
        if name in BY_NAME and BY_NAME[name] not in ROWS:
            return getattr(self._scalars, name)
        return getattr(self.select(slice(None)), name)

    def select(self, index: Any) -> Windows:
        if not isinstance(index, slice):
            return self.select(slice(None)).select(index)
        start, stop, stride = index.indices(len(self))
        parts, offset = [], 0
        for block in self._table.blocks:
            low, high = max(start - offset, 0), min(stop - offset, len(block))
            if low < high:
                parts.append(block.part(low, high))
            offset += len(block)
        windows = decoded(parts, self._table.rows)
        return windows if stride == 1 else windows.select(slice(None, None, stride))
