"""The health of a run that is served: `health.Assessment`, fed with what is new each time that somebody looks."""

from typing import Any, cast

from tb_gradhealth.format.columns import BY_NAME, ROWS
from tb_gradhealth.format.log import GroupLog, RunLog
from tb_gradhealth.format.windows import Windows
from tb_gradhealth.health import Assessment, RunHealth
from tb_gradhealth.serve.progress import Progress, chunks
from tb_gradhealth.serve.run import Run
from tb_gradhealth.serve.table import Block, Table, decoded


class Judge:
    """Follows a growing run: a look costs what is new in it, and the whole where steps were replaced.

    Promises: says of a run what `health.assess` says of it as `format.log.assemble` puts it together. Not thread-safe.
    """

    def __init__(self) -> None:
        self._generations: dict[str, list[bytes]] = {}
        self._begin()

    def health(self, run: Run) -> RunHealth:
        """The verdict on the run as it is now."""
        generations = {
            name: [schema.SerializeToString(deterministic=True) for schema in table.generations]
            for name, table in run.tables.items()
        }
        news = self._news(run) if generations == self._generations else None
        if news is None:
            self._generations = generations
            self._begin()
            self._assessment = Assessment({name: table.generations for name, table in run.tables.items()})
            news = self._news(run)
        for name, blocks in (news or {}).items():
            for block in blocks:
                self._fed.add(name)
                for windows in chunks(block):
                    self._assessment.feed(name, windows)
        return self._assessment.health(
            incidents=run.incidents, causes=run.causes, problems=run.problems, newer_format=run.newer_format
        )

    def _begin(self) -> None:
        self._assessment = Assessment({})
        self._progress: dict[str, Progress] = {}
        self._fed: set[str] = set()

    def _news(self, run: Run) -> dict[str, list[Block]] | None:
        """What was not fed yet of each group; None where something that was fed has been replaced."""
        news = {}
        for name, table in run.tables.items():
            anew, blocks = self._progress.setdefault(name, Progress()).advance(table)
            if anew and name in self._fed:
                return None
            news[name] = blocks
        return news


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
