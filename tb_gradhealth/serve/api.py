"""The routes as functions: checked arguments in, content out. `http_api.md` describes each."""

import json
from typing import Any

import numpy as np
from tensorboard import errors

from tb_gradhealth.report import run_markdown
from tb_gradhealth.serve import overview
from tb_gradhealth.serve.arguments import Arguments
from tb_gradhealth.serve.assessment import log_of
from tb_gradhealth.serve.columns import Columns
from tb_gradhealth.serve.insights import Insights
from tb_gradhealth.serve.lines import lines
from tb_gradhealth.serve.rank import rank
from tb_gradhealth.serve.run import Run
from tb_gradhealth.serve.sheet import MAX_CELLS, sheet
from tb_gradhealth.serve.source import Where
from tb_gradhealth.serve.store import Store
from tb_gradhealth.serve.table import Table
from tb_gradhealth.serve.tiles import Tile, Values, columns_for, stored_metric, tile
from tb_gradhealth.serve.variable import variable


class Api:
    """Answers the routes.

    Args:
      store: of the runs.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def runs(self, where: Where, args: Arguments) -> dict[str, Any]:
        listing = self.store.source.series(where)
        return overview.runs(self.store.source.runs(where), listing, self.store.known_health(where, listing))

    def run(self, where: Where, args: Arguments) -> dict[str, Any]:
        found, insights = self.store.run(where, args.run)
        return overview.run(found, insights.health(found))

    def tile(self, where: Where, args: Arguments) -> bytes:
        asked = _Asked(self.store, where, args)
        drawn = None if args.selected is None else [asked.checked(index) for index in args.selected]
        columns = asked.columns(args.columns, None if drawn is None else len(drawn))
        matrix = tile(asked.table, columns, asked.values, variables=drawn, **asked.how)
        header = {
            "rows": len(matrix.values),
            "variables": drawn,
            "columns": len(matrix.first),
            "metric": args.metric,
            "first_step": asked.first,
            "last_step": asked.last,
            "revision": asked.run.revision,
        }
        return packed(header, matrix)

    def lines(self, where: Where, args: Arguments) -> dict[str, Any]:
        asked = _Asked(self.store, where, args)
        chosen = [asked.checked(index) for index in args.variables]
        found = lines(asked.table, asked.columns(args.columns), args.metric, asked.values, chosen, asked.how["replica"])
        return {**found, "revision": asked.run.revision}

    def variable(self, where: Where, args: Arguments) -> dict[str, Any]:
        asked = _Asked(self.store, where, args)
        found = variable(asked.table, asked.run.flights(args.group), asked.checked(args.variable))
        return {**found, "revision": asked.run.revision}

    def rank(self, where: Where, args: Arguments) -> dict[str, Any]:
        asked = _Asked(self.store, where, args)
        return {**rank(asked.table, asked.first, asked.last), "revision": asked.run.revision}

    def table(self, where: Where, args: Arguments) -> str:
        asked = _Asked(self.store, where, args)
        columns = asked.columns(min(args.columns, max(1, MAX_CELLS // max(asked.table.variables, 1))))
        return sheet(asked.table, tile(asked.table, columns, asked.values, **asked.how))

    def report(self, where: Where, args: Arguments) -> str:
        found, insights = self.store.run(where, args.run)
        return run_markdown(found.name, log_of(found), insights.health(found))


class _Asked:
    """The history that a request is about.

    Raises:
      tensorboard.errors.NotFoundError: there is no such run, group, variable or replica.
    """

    def __init__(self, store: Store, where: Where, args: Arguments) -> None:
        self.run, insights = store.run(where, args.run)
        self.table: Table = _group(self.run, args.group)
        self.first, self.last = _steps(self.run, args)
        self.how: dict[str, Any] = {"replica": self._replica(args), "smallest": args.smallest}
        self.values: Values = _metric(self.run, insights, args)

    def columns(self, count: int, drawn: int | None = None) -> Columns:
        return columns_for(self.table, self.first, self.last, count, drawn)

    def checked(self, index: int) -> int:
        if index >= self.table.variables:
            raise errors.NotFoundError(f"There is no variable {index}: the group has {self.table.variables}.")
        return index

    def _replica(self, args: Arguments) -> int | None:
        replica = args.replica
        if replica is not None and replica >= self.table.replicas:
            raise errors.NotFoundError(f"There is no replica {replica}: the group has {self.table.replicas}.")
        return replica


def packed(header: dict[str, Any], matrix: Tile) -> bytes:
    """A tile in the layout of `http_api.md`."""
    text = json.dumps(header, allow_nan=False).encode()
    text += b" " * (-(4 + len(text)) % 8)
    return b"".join(
        (
            np.array(len(text), "<u4").tobytes(),
            text,
            matrix.first.astype("<f8").tobytes(),
            matrix.last.astype("<f8").tobytes(),
            matrix.values.astype("<f4", copy=False).tobytes(),
            matrix.states.tobytes(),
        )
    )


def _group(run: Run, name: str) -> Table:
    table = run.tables.get(name)
    if table is None:
        there = ", ".join(run.tables) or "none"
        raise errors.NotFoundError(f"The run {run.name!r} has no group {name!r}. There are: {there}.")
    return table


def _steps(run: Run, args: Arguments) -> tuple[int, int]:
    """The range asked for; where an end is not given, that of the run."""
    first, last = args.first, args.last
    begun = [t for t in run.tables.values() if t.first_step is not None]
    if first is None:
        first = min((t.first_step for t in begun if t.first_step is not None), default=0)
    if last is None:
        last = max((t.last_step for t in begun if t.last_step is not None), default=-1)
    if args.first is not None and args.last is not None and last < first:
        raise errors.InvalidArgumentError(f"last must not be below first. Received: first={first}, last={last}.")
    return first, max(first, last)


def _metric(run: Run, insights: Insights, args: Arguments) -> Values:
    if args.metric == "change":
        return insights.usual(run, args.group).change
    return stored_metric(args.metric)
