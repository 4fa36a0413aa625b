"""One group's history as the pure functions of this room read it: blocks of windows over one set of rows.

The same history as `format.log.assemble` puts together, repeated steps cut back and changed variable sets united, but
without ever having all of it decoded at once.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.columns import BY_NAME, ROWS, SCALARS
from tb_gradhealth.format.log import ascending, cut_back, spread, union_schema
from tb_gradhealth.format.states import State
from tb_gradhealth.format.windows import Array, Windows
from tb_gradhealth.serve.segment import Rows, Segment


@dataclasses.dataclass(frozen=True)
class Block:
    """Successive windows of one segment, in order of steps.

    Attributes:
      tag: of the segment.
      scalars: of the windows; no rows.
      start: index of the first window in the segment.
      place: the group's row of each row of the segment, int64; None: the same.
      rows: rows of the group.
      open: gives the segment of a tag.
    """

    tag: str
    scalars: Windows
    start: int
    place: Array | None
    rows: int
    open: Callable[[str], Segment]

    def __len__(self) -> int:
        return len(self.scalars)

    def between(self, first: int, last: int) -> "Block":
        """The windows that have a step in ``[first, last]``."""
        low = int(np.searchsorted(self.scalars.last_step, first))
        high = max(int(np.searchsorted(self.scalars.first_step, last, side="right")), low)
        return self.part(low, high)

    def part(self, start: int, stop: int) -> "Block":
        """The windows ``[start, stop)`` of this block."""
        return dataclasses.replace(self, scalars=self.scalars.select(slice(start, stop)), start=self.start + start)

    def column(self, name: str, rows: Rows = slice(None)) -> Array:
        """One per-row column, as `Segment.column` gives it: ``[windows, rows]``, not to be written to."""
        segment = self.open(self.tag)
        if self.place is None:
            return segment.column(name, self._part, rows)
        return self._spread(segment.column(name, self._part), self.place, BY_NAME[name].absent)[:, rows]

    def worst(self, rows: Rows = slice(None)) -> Array:
        """The most severe state within each window: uint8 ``[windows, rows]``, not to be written to."""
        worst = self.open(self.tag).worst
        if self.place is None:
            return worst[self._part, rows]
        return self._spread(worst[self._part], self.place, State.NOT_RECORDED)[:, rows]

    def stores(self, name: str) -> bool:
        """Whether the column may differ from its default."""
        return self.open(self.tag).stores(name)

    def windows(self, rows: Rows = slice(None)) -> Windows:
        """The windows with all their columns, decoded."""
        segment = self.open(self.tag)
        if self.place is None:
            full = segment.windows(self._part, rows)
        else:
            full = spread(segment.windows(self._part), self.place, self.rows).select_rows(rows)
        return dataclasses.replace(full, last_step=self.scalars.last_step)  # cut back

    @property
    def _part(self) -> slice:
        return slice(self.start, self.start + len(self))

    def _spread(self, values: Array, place: Array, absent: float) -> Array:
        wide = np.full((len(values), self.rows), absent, values.dtype)
        wide[:, place] = values
        return wide


@dataclasses.dataclass(frozen=True)
class Table:
    """The history of one group.

    Attributes:
      schema: the union over all generations, as in `format.log.GroupLog`.
      generations: the schemas as stored, oldest first.
      blocks: in order of steps, no step twice.
    """

    schema: pb.Schema
    generations: Sequence[pb.Schema]
    blocks: tuple[Block, ...]

    @property
    def variables(self) -> int:
        return len(self.schema.variables)

    @property
    def replicas(self) -> int:
        return max(self.schema.replicas, 1)

    @property
    def rows(self) -> int:
        return self.variables * self.replicas

    @property
    def first_step(self) -> int | None:
        """Of the first window; None when there is none yet."""
        return int(self.blocks[0].scalars.first_step[0]) if self.blocks else None

    @property
    def last_step(self) -> int | None:
        return int(self.blocks[-1].scalars.last_step[-1]) if self.blocks else None

    def between(self, first: int, last: int) -> list[Block]:
        """The windows that have a step in ``[first, last]``, in blocks that are not empty."""
        near = (b for b in self.blocks if b.scalars.last_step[-1] >= first and b.scalars.first_step[0] <= last)
        return [block for b in near if len(block := b.between(first, last))]

    def scalars(self) -> Windows:
        """All windows without their rows."""
        return joined([b.scalars for b in self.blocks])


def decoded(blocks: Sequence[Block], rows: int) -> Windows:
    """The windows of successive blocks with all their columns; not to be written to.

    As concatenating them, but what none of them stores is not copied: of a healthy run, fourteen columns of eighteen.
    """
    if len(blocks) == 1:
        return blocks[0].windows()
    scalars = joined([block.scalars for block in blocks])
    plain = all(block.place is None for block in blocks)
    shape = len(scalars), rows
    columns: dict[str, Array] = {}
    for column in ROWS:
        if not plain or any(block.stores(column.name) for block in blocks):
            parts = [np.zeros((0, rows), column.memory), *(block.column(column.name) for block in blocks)]
            columns[column.name] = np.concatenate(parts).astype(column.memory, copy=False)
        elif column.same_as is not None:
            columns[column.name] = columns[column.same_as]
        elif column.name == "norm_max_step":
            columns[column.name] = np.broadcast_to(scalars.first_step[:, None], shape)
        else:
            columns[column.name] = np.broadcast_to(np.array(column.absent, column.memory), shape)
    return Windows(**{c.name: getattr(scalars, c.name) for c in SCALARS}, **columns)


def joined(scalars: Sequence[Windows]) -> Windows:
    """The windows of all parts, which have no rows; none for no parts."""
    return Windows.concatenate(scalars) if scalars else Windows.blank(0, 0)


def table_of(
    generations: Sequence[tuple[pb.Schema, Sequence[tuple[str, Windows]]]], opener: Callable[[str], Segment]
) -> Table:
    """The table of a group.

    Args:
      generations: oldest first, each with its segments in order: their tag and their windows without rows.
      opener: gives the segment of a tag.
    """
    schemas = [schema for schema, _ in generations]
    union, places = union_schema(schemas)
    rows = len(union.variables) * union.replicas
    blocks = []
    for (_, segments), place in zip(generations, places, strict=True):
        same = len(place) == rows and np.array_equal(place, np.arange(rows))
        blocks += [
            Block(tag, piece, start, None if same else place, rows, opener)
            for tag, scalars in segments
            for start, piece in _pieces(scalars)
        ]
    kept = cut_back([block.scalars for block in blocks])
    cut = (dataclasses.replace(block, scalars=scalars) for block, scalars in zip(blocks, kept, strict=True))
    return Table(union, schemas, tuple(block for block in cut if len(block)))


def _pieces(scalars: Windows) -> Iterator[tuple[int, Windows]]:
    start = 0
    for piece in ascending(scalars):
        yield start, piece
        start += len(piece)
