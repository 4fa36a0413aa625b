"""Eager steps as they run: the very step that went wrong is explained, with no second run.

While a `LiveWatch` is open, the operations of this thread are noted by reference (`eager_record`), so that when a
step's gradients turn out not to be finite everything that made them is still there. What that costs is bounded twice:
in memory (`BYTES`), and in time: the first `FIRST` steps are always noted, later ones only if noting them takes less
than `SHARE` of the time a step takes, else one in so many that it does.

Of the steps in between a glimpse is kept (`glimpse`), so that they are explained, too, if less surely.

Promises: `look` never raises; nothing is kept beyond the step that follows; a loop of compiled functions, which is a
few operations to eager mode, is noted throughout. Where gradients are recorded inside a traced function there is
nothing to note: `rest` ends noting until a step was recorded eagerly.
"""

import dataclasses
import logging
import math
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tb_gradhealth.explain import private, source
from tb_gradhealth.explain.nonfinite.blame import causes_of
from tb_gradhealth.explain.nonfinite.eager_questions import question_about, question_of
from tb_gradhealth.explain.nonfinite.eager_record import Recorder
from tb_gradhealth.explain.nonfinite.glimpse import Glimpses
from tb_gradhealth.explain.observer import observer
from tb_gradhealth.format.causes import Cause

FIRST = 8
"""Steps that are always noted."""

SHARE = 0.005
"""Share of a step's time that noting may take later on."""

SECONDS_PER_EVENT = 6e-6
"""What noting one operation costs after the first steps, measured with a margin."""

SAMPLE = 4096
"""After the first steps, of larger gradients so many elements are looked at: a NaN seldom comes alone."""

BYTES = 256 * 2**20
"""Outputs of operations kept alive by a step's notes; a step beyond it is noted no further."""

GLIMPSED_BYTES = BYTES // 4
"""Of steps that are not noted, no glimpse is kept where a step's outputs take more than this."""

MOST_EXPLAINED = 4
"""Bad steps explained for each group; weights that are NaN make every further step bad."""

_logger = logging.getLogger("tb_gradhealth")


class LiveWatch:
    """Notes the eager steps of the thread that opens it.

    Args:
      huge: a finite gradient with an element or a norm beyond this is explained, too, in case that it is asked about.
    """

    def __init__(self, huge: float = math.inf) -> None:
        self._recorder = Recorder(deep=True, limit_bytes=BYTES)
        self._open = False
        self._thread = 0
        self._steps = 0
        self._wait = 0
        self._marks: dict[str, int] = {}
        self._began = 0.0
        self._explained: dict[str, int] = {}
        self._old_targets: set[int] = set()
        self._glimpses = Glimpses()
        self._huge = huge
        self._limits: dict[str, float] = {}
        self._explosions: dict[str, list[Cause]] = {}
        self.problem = ""
        """Why the last bad step could not be explained, "" if it was."""

    def open(self) -> None:
        """Begins to watch. A second call does nothing."""
        if not self._open:
            self._open = True
            self._thread = threading.get_ident()
            self._start()

    def close(self) -> None:
        """Ends watching. A second call does nothing."""
        if self._open:
            self._open = False
            self._recorder.stop()
            self._recorder.clear()
            self._glimpses.stop()

    def look(
        self,
        group: str,
        gradients: Sequence[Any],
        variables: Sequence[Any],
        loss: Any = None,
        step: int = -1,
        finite: Any = None,
    ) -> list[Cause]:
        """The causes, if these eager gradients (or the loss) are not finite and their step was noted; else none.

        Args:
          group: name of this list of gradients.
          gradients: tensors, `tf.IndexedSlices` or None.
          variables: they belong to.
          loss: tensor, number or None.
          step: for the causes.
          finite: bool tensor ``[]``, whether the gradients are, where that is known already.
        """
        if not self._open or not tf.executing_eagerly():
            return []
        try:
            ask = self._causes if self._recorder.running else self._glimpsed_causes
            found = ask(group, gradients, variables, loss, step, finite)
        except Exception as error:
            _logger.debug("no explanation", exc_info=True)
            self.problem = str(error) or type(error).__name__
            found = []
        self._step_ends(group)
        return found

    def _glimpsed_causes(
        self, group: str, gradients: Sequence[Any], variables: Sequence[Any], loss: Any, step: int, finite: Any
    ) -> list[Cause]:
        """The same for a step that was not noted, from what its derivatives went through."""
        if not self._glimpses.seen or self._explained.get(group, 0) or _is_well(finite, loss):
            self._glimpses.clear()
            return []
        self._explained[group] = 1
        given = [*(tensor for tensor in gradients if tensor is not None), *([loss] if tf.is_tensor(loss) else [])]
        trace, values, sure = self._glimpses.trace(given)
        question = question_about(trace, values, gradients, variables, loss, source.stack_here(2), step)
        question = dataclasses.replace(question, exact=sure)
        # The gradients of the step before were finite, and so were the weights that it left behind.
        return [cause for cause in causes_of(question) if cause.reason_id != "bad_weights"]

    def _causes(
        self, group: str, gradients: Sequence[Any], variables: Sequence[Any], loss: Any, step: int, finite: Any
    ) -> list[Cause]:
        if self._explained.get(group, 0) >= MOST_EXPLAINED or not self._recorder.events:
            return []
        target = loss if loss is not None and tf.is_tensor(loss) else self._target()
        sample = SAMPLE if self._steps >= FIRST else 0
        largest = largest_of(gradients, sample)
        if math.isfinite(largest) and math.isfinite(largest_of([loss, target], sample)):
            if largest > self._limits.get(group, self._huge):
                self._limits[group] = 10 * largest
                self._explosions[group] = self._explained_now(gradients, variables, target, step, exploded=True)
            return []
        self._explained[group] = self._explained.get(group, 0) + 1
        if self._explained[group] > 1 and not math.isfinite(largest_of([tf.convert_to_tensor(v) for v in variables])):
            return []  # a consequence of the step that was explained before
        return self._explained_now(gradients, variables, target, step)

    def _explained_now(
        self, gradients: Sequence[Any], variables: Sequence[Any], target: Any, step: int, exploded: bool = False
    ) -> list[Cause]:
        try:
            question = question_of(self._recorder, gradients, variables, target, source.stack_here(3), step)
            self._recorder.pause(True)
            return causes_of(dataclasses.replace(question, exploded=exploded))
        finally:
            self._recorder.pause(False)

    def explosion(self, group: str) -> list[Cause]:
        """The causes of a group's enormous gradients; none if not known (yet), and then the next step is explained."""
        causes = self._explosions.get(group, [])
        if not causes:
            self._limits[group] = 0.0
            if self._open and self._thread == threading.get_ident() and not self._recorder.running:
                self._start()
        return causes

    def _target(self) -> Any:
        """What the tape differentiated last, among what was noted; None if that is not known."""
        wanted = {number for call in list(observer.calls)[-2:] if call.eager for number in call.targets}
        wanted -= self._old_targets
        self._old_targets |= wanted
        for _, _, _, outputs, _ in reversed(self._recorder.events) if wanted else ():
            for tensor in outputs:
                if private.tensor_id(tensor) in wanted:
                    return tensor
        return None

    def _step_ends(self, group: str) -> None:
        took = max(time.monotonic() - self._began, 1e-6)
        self._steps += 1
        cost = (len(self._recorder.events) - self._marks.get(group, 0)) * SECONDS_PER_EVENT
        if self._steps == FIRST:
            self._recorder.be_brief()
        if self._steps >= FIRST and self._recorder.running and cost > SHARE * took:
            if self._recorder.bytes <= GLIMPSED_BYTES:
                self._glimpses.outline(self._recorder)
                self._glimpses.start()
            self._recorder.stop()
            self._recorder.clear()
            self._marks.clear()
            self._wait = int(min(cost / (SHARE * took), 1e6))
        elif self._recorder.running:
            self._forget_what_was_recorded_before(group)
        else:
            self._wait -= 1
            if self._wait <= 0:
                self._start()
        self._began = time.monotonic()

    def _forget_what_was_recorded_before(self, group: str) -> None:
        """Drops what no group's next gradients can have come from: two may be computed before one is recorded."""
        self._marks[group] = len(self._recorder.events)
        cut = min(self._marks.values())
        self._recorder.forget(cut)
        self._marks = {name: mark - cut for name, mark in self._marks.items()}

    def rest(self) -> None:
        """Steps are traced, and keep their own evidence: nothing is noted until one was recorded eagerly again."""
        if self._thread == threading.get_ident():  # callbacks are those of the thread; a replica has its own
            self._recorder.stop()
            self._recorder.clear()
            self._glimpses.stop()
            self._marks.clear()
            self._wait = 0

    def _start(self) -> None:
        if not tf.executing_eagerly():
            return
        try:
            self._glimpses.stop()
            self._recorder.start()
            self._began = time.monotonic()
        except private.Missing:
            self._open = False


def _is_well(finite: Any, loss: Any) -> bool:
    """Whether a step is well, as far as that is known without waiting for a device."""
    for value in (finite, loss):
        if tf.is_tensor(value) and value.shape.rank == 0 and "CPU" in (value.backing_device or ""):
            number = value.numpy()
            if not (bool(number) if value.dtype == tf.bool else np.isfinite(number)):
                return False
    return True


def largest_of(values: Sequence[Any], sample: int = 0) -> float:
    """Largest absolute value among these tensors, numbers, `tf.IndexedSlices` and Nones: NaN or Inf if any element is.

    Args:
      values: to look at.
      sample: look at about so many elements of a larger one; 0: at all.
    """
    largest = 0.0
    for value in values:
        if value is None:
            continue
        tensor = value.values if isinstance(value, tf.IndexedSlices) else value
        array = np.asarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor)
        if sample and array.size > 4 * sample:
            array = array.reshape(-1)[:: array.size // sample]
        if array.dtype.kind == "c":
            array = np.abs(array)
        elif array.dtype.kind != "f":
            array = array.astype(np.float32)
        if array.size:
            bound = max(float(array.max()), -float(array.min()))  # NumPy's extremes are NaN where an element is
            if not math.isfinite(bound):
                return bound
            largest = max(largest, bound)
    return largest
