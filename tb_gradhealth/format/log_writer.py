"""Writing a run: messages into the tags of one event file.

Promises: events are written in the order of the calls; nothing is buffered here, so `flush` and durability are the
sink's; an error of the sink is raised to the caller, who decides what it costs. Not thread-safe.
"""

import dataclasses
import time
from typing import Protocol

from google.protobuf.message import Message
from tensorboard.compat.proto import event_pb2, summary_pb2, types_pb2

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.encoding import encode_all
from tb_gradhealth.format.seal import sealed
from tb_gradhealth.format.tags import CAUSES, FORMAT_VERSION, INCIDENTS, PLUGIN_NAME, SeriesTag, segment_records
from tb_gradhealth.format.windows import Windows


class RecordSink(Protocol):
    """Where serialised events go: a `tf.io.TFRecordWriter`, or anything that frames records as it does."""

    def write(self, record: bytes) -> None: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


class LogWriter:
    """Writes one run's messages as TensorBoard events.

    Args:
      sink: receives the serialised events; closed by `close`.
      clock: seconds since the epoch. Wall times never go backwards in the file, whatever the clock does.
    """

    def __init__(self, sink: RecordSink, clock: "Clock" = time.time) -> None:
        self._sink = sink
        self._clock = clock
        self._latest = float("-inf")
        self._seen: set[str] = set()
        self._segments: dict[tuple[str, int], _Segment] = {}
        self._event(event_pb2.Event(file_version="brain.Event:2"))

    def schema(self, schema: pb.Schema, step: int = 0) -> None:
        """Begins a generation of a group."""
        self._message(str(SeriesTag("schema", schema.group, schema.generation)), step, schema)

    def records(self, windows: Windows, group: str, generation: int) -> None:
        """Appends windows to a group's records.

        A new segment begins when the last one is full, and where the steps go back: of the steps that a tag repeats,
        TensorBoard's loaders keep different ones.
        """
        segment = self._segments.setdefault((group, generation), _Segment())
        full = segment_records(windows.row_count)
        for record in encode_all(windows):
            if segment.records >= full or (segment.records and record.first_step <= segment.last_step):
                segment.index, segment.records = segment.index + 1, 0
            tag = SeriesTag("records", group, generation, segment.index)
            self._message(str(tag), record.last_step, record)
            segment.records, segment.last_step = segment.records + 1, record.last_step

    def flight(self, windows: Windows, group: str, generation: int, number: int) -> None:
        """Writes single-step windows around the group's incident number `number`."""
        tag = str(SeriesTag("flight", group, generation, number))
        for record in encode_all(windows):
            self._message(tag, record.last_step, record)

    def incidents(self, incidents: pb.Incidents, step: int) -> None:
        """Writes the whole list; readers take the last one."""
        self._message(INCIDENTS, step, incidents)

    def causes(self, causes: pb.Causes, step: int) -> None:
        """Writes the whole list; readers take the last one."""
        self._message(CAUSES, step, causes)

    def flush(self) -> None:
        self._sink.flush()

    def close(self) -> None:
        self._sink.close()

    def _message(self, tag: str, step: int, message: Message) -> None:
        value = summary_pb2.Summary.Value(tag=tag)
        value.tensor.dtype = types_pb2.DT_STRING
        value.tensor.tensor_shape.SetInParent()
        value.tensor.string_val.append(sealed(message.SerializeToString()))
        if tag not in self._seen:  # loaders read a tag's metadata from its first event only
            value.metadata.plugin_data.plugin_name = PLUGIN_NAME
            value.metadata.plugin_data.content = str(FORMAT_VERSION).encode()
            value.metadata.data_class = summary_pb2.DATA_CLASS_TENSOR
            self._seen.add(tag)
        self._event(event_pb2.Event(step=step, summary=summary_pb2.Summary(value=[value])))

    def _event(self, event: event_pb2.Event) -> None:
        self._latest = max(self._latest, self._clock())
        event.wall_time = self._latest
        self._sink.write(event.SerializeToString())


@dataclasses.dataclass
class _Segment:
    """The segment that is being written."""

    index: int = 0
    records: int = 0
    last_step: int = -1


class Clock(Protocol):
    """Seconds since the epoch, as `time.time` tells them."""

    def __call__(self) -> float: ...
