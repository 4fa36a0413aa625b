"""The run's log while training: opened on the first write, flushed in time, never an exception.

Promises: whatever was written is handed to the filesystem at once after an incident or a cause, else at least every
`FLUSH_SECONDS`; after a failure nothing more is written and one warning says so.
"""

import time
from collections.abc import Sequence

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.causes import Cause
from tb_gradhealth.format.log_writer import LogWriter
from tb_gradhealth.format.tags import FORMAT_VERSION
from tb_gradhealth.record.sink import EventFile, run_dir

FLUSH_SECONDS = 5.0

_AGE = 0.005
"""What is rewritten or written early as a run goes on is so at most each time the run has grown by this share: its cost
grows with the logarithm of the run's length."""


class LiveLog:
    """Writes one run.

    Args:
      log_dir: the user's; the run lies below it.
    """

    def __init__(self, log_dir: str) -> None:
        self._directory = run_dir(log_dir)
        self._writer: LogWriter | None = None
        self._began = self._flushed = self._refreshed = time.monotonic()
        self._causes: dict[str, Cause] = {}
        self._incidents: bytes = b""
        self.step = 0

    @property
    def writer(self) -> LogWriter:
        """The writer; the file is opened when it is first asked for."""
        if self._writer is None:
            self._writer = LogWriter(EventFile(self._directory))
        return self._writer

    @property
    def causes(self) -> list[Cause]:
        """All causes written."""
        return list(self._causes.values())

    def add_causes(self, causes: Sequence[Cause]) -> list[Cause]:
        """Writes causes not written before and returns them."""
        new = [cause for cause in causes if self._causes.get(cause.id) is None]
        if new:
            self._causes.update({cause.id: cause for cause in new})
            self.writer.causes(
                pb.Causes(format_version=FORMAT_VERSION, causes=[c.to_proto() for c in self._causes.values()]),
                self.step,
            )
            self.flush()
        return new

    def write_incidents(self, incidents: Sequence[pb.Incident]) -> None:
        """Writes the list of incidents if it differs from what was written last."""
        message = pb.Incidents(format_version=FORMAT_VERSION, incidents=incidents)
        stored = message.SerializeToString(deterministic=True)
        if stored != self._incidents and (incidents or self._incidents):
            self._incidents = stored
            self.writer.incidents(message, self.step)

    def refresh_due(self) -> bool:
        """Whether incidents that changed, and windows that are not complete, are to be written by now."""
        now = time.monotonic()
        if now - self._refreshed < max(FLUSH_SECONDS, _AGE * (now - self._began)):
            return False
        self._refreshed = now
        return True

    def flush_if_due(self) -> None:
        if time.monotonic() - self._flushed >= FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        self._flushed = time.monotonic()
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
