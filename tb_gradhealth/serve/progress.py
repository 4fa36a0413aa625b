"""How much of a growing history was looked at already, for whatever reads it once and in order."""

from collections.abc import Iterator

import numpy as np

from tb_gradhealth.format.windows import Windows
from tb_gradhealth.serve.table import Block, Table

_CHUNK = 128
"""Windows decoded at once."""


class Progress:
    """Remembers a table's windows; the next table of the same run either goes on from there or tells another story."""

    def __init__(self) -> None:
        self._schema = b""
        self._blocks: tuple[Block, ...] = ()

    def advance(self, table: Table) -> tuple[bool, list[Block]]:
        """What is new.

        Returns:
          whether everything has to be read anew, because steps that were read have been replaced or the variables
          have changed; and the blocks to read.
        """
        schema = table.schema.SerializeToString(deterministic=True)
        goes_on = schema == self._schema and self._is_prefix_of(table)
        seen = self._blocks if goes_on else ()
        self._schema, self._blocks = schema, table.blocks
        if not seen:
            return True, list(table.blocks)
        newest = table.blocks[len(seen) - 1]
        fresh = [newest.part(len(seen[-1]), len(newest)), *table.blocks[len(seen) :]]
        return False, [block for block in fresh if len(block)]

    def _is_prefix_of(self, table: Table) -> bool:
        if len(self._blocks) > len(table.blocks):
            return False
        for index, (old, new) in enumerate(zip(self._blocks, table.blocks, strict=False)):
            may_grow = index == len(self._blocks) - 1
            if (old.tag, old.start) != (new.tag, new.start) or not (may_grow or len(old) == len(new)):
                return False
            if not _begins_with(new.scalars, old.scalars):
                return False
        return True


def chunks(block: Block) -> Iterator[Windows]:
    """The windows of a block, decoded, some at a time."""
    for start in range(0, len(block), _CHUNK):
        yield block.part(start, start + _CHUNK).windows()


def _begins_with(new: Windows, old: Windows) -> bool:
    names = ("first_step", "last_step", "wall_time")
    return len(new) >= len(old) and all(
        np.array_equal(getattr(new, name)[: len(old)], getattr(old, name)) for name in names
    )
