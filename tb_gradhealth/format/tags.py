"""Names on disk: the plugin's name, the run directory and the tags of every series.

    schema/<group>/<generation>             one Schema
    records/<group>/<generation>/<segment>  at most `segment_records` Records, step = last step of the window
    flight/<group>/<generation>/<n>         single-step Records around incident n
    incidents, causes                       cumulative, the last one wins

Group names are percent-encoded, so a tag always splits at its slashes.
"""

import dataclasses
import urllib.parse

PLUGIN_NAME = "gradhealth"
FORMAT_VERSION = 1
RUN_SUBDIR = "gradhealth"
"""Records live in a run directory of their own below the user's log directory: with two growing files in one directory
TensorBoard's Python loader stops reading the older one."""

SEGMENT_RECORDS = 512
"""Records per tag, at most: an older segment never changes, and stays below any sampling cap of 512 or more."""

SEGMENT_BYTES = 32 << 20
"""Bytes per tag, at most (one record always fits): TensorBoard's data server refuses answers of 256 MiB, and whoever
watches a running training re-reads the newest segment again and again."""

RECORD_BYTES_PER_ROW = 69
"""The largest that a record can be: every column of `columns.ROWS` stored."""

INCIDENTS = "incidents"
CAUSES = "causes"


@dataclasses.dataclass(frozen=True, order=True)
class SeriesTag:
    """A parsed tag of one of the numbered series.

    Attributes:
      kind: ``"schema"``, ``"records"`` or ``"flight"``.
      group: the group's name, decoded.
      generation: milliseconds since the epoch, see ``Schema.generation``.
      index: segment or flight number; 0 for a schema.
    """

    kind: str
    group: str
    generation: int
    index: int = 0

    def __str__(self) -> str:
        head = f"{self.kind}/{urllib.parse.quote(self.group, safe='')}/{self.generation}"
        return head if self.kind == "schema" else f"{head}/{self.index:06d}"


def segment_records(rows: int) -> int:
    """Records in a full segment of a group with so many rows: the same for the writer and for every reader."""
    return max(1, min(SEGMENT_RECORDS, SEGMENT_BYTES // (RECORD_BYTES_PER_ROW * max(rows, 1))))


def parse(tag: str) -> SeriesTag | None:
    """The parts of a series tag, or None for a tag that is none of ours (or of a newer format)."""
    parts = tag.split("/")
    lengths = {"schema": 3, "records": 4, "flight": 4}
    if lengths.get(parts[0]) != len(parts) or not all(_is_number(p) for p in parts[2:]):
        return None
    index = int(parts[3]) if len(parts) == 4 else 0
    return SeriesTag(parts[0], urllib.parse.unquote(parts[1]), int(parts[2]), index)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19
