"""Asking `explain` why gradients are NaN or Inf, and telling the answer.

Two ways: eager steps are noted as they run and explained on the spot; of steps inside a traced function the recorder
keeps the first bad one (`evidence`), which is run once more. Promises: nothing here raises; where no explanation is
found, one sentence says why.
"""

import dataclasses
import operator
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.causes import Cause
from tb_gradhealth.health import Incident
from tb_gradhealth.record.evidence import KeptStep
from tb_gradhealth.record.group import Group
from tb_gradhealth.record.guard import Guard
from tb_gradhealth.record.recorder import Recorder


class NonfiniteExplainer:
    """Explains bad steps of one recorder while it is open.

    Args:
      recorder: gets the causes.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._guard = Guard("explaining gradients that are not finite")
        self._said: set[str] = set()
        self._watch = self._guard.run(_open_watch, not recorder.steps_are_traced, recorder.thresholds.huge_ratio)
        self._told_growth: set[str] = set()
        self._waiting: set[str] = set()
        recorder.on_fed = self._fed
        if not getattr(recorder, "explains_kept_steps", False):  # one recorder may see several `fit` calls
            recorder.on_bad_step(self._kept)
            recorder.explains_kept_steps = True  # type: ignore[attr-defined]

    def look(
        self,
        group: Group,
        gradients: Sequence[Any],
        variables: Sequence[Any],
        loss: Any = None,
        step: Any = None,
        finite: Any = None,
    ) -> None:
        """Explains an eager step whose gradients are not finite; while a step is traced, notes that steps are."""
        self._recorder.steps_are_traced = not tf.executing_eagerly()
        if self._watch is None:
            return
        if self._recorder.steps_are_traced:
            self._watch.rest()
        else:
            self._guard.run(self._look, group, gradients, variables, loss, step, finite)

    def _look(
        self, group: Group, gradients: Sequence[Any], variables: Sequence[Any], loss: Any, step: Any, finite: Any
    ) -> None:
        number = -1 if step is None else operator.index(int(step))
        causes = self._watch.look(group.name, gradients, variables, loss, number, finite)
        if causes and number < 0:
            number = self._recorder.next_step(group) - 1
            causes = [dataclasses.replace(cause, step=number) for cause in causes]
        if causes:
            self._recorder.tell_causes(group, causes)

    def _kept(self, kept: KeptStep) -> list[Cause]:
        from tb_gradhealth.explain.nonfinite.kept import causes_of_kept

        try:
            return causes_of_kept(kept)
        except Exception as error:
            what = "the enormous gradients" if kept.exploded else f"the NaN or Inf at step {kept.step}"
            self._say(f"no explanation of {what}: {error or type(error).__name__}")
            return []

    def announced(self, group: Group, incidents: Iterable[Incident | pb.Incident]) -> None:
        """Tells why gradients explode, once they are known to: of the step that is kept, else of the next one."""
        if any(incident.kind == "exploding" for incident in incidents) and group.name not in self._told_growth:
            self._guard.run(self._tell_growth, group)

    def _fed(self, group: Group) -> None:
        if group.name in self._waiting:
            self._tell_growth(group)

    def _tell_growth(self, group: Group) -> None:
        causes = (
            self._watch.explosion(group.name) if self._watch is not None and not self._recorder.steps_are_traced else []
        )
        for kept in self._recorder.evidence.exploded(group.name):
            causes += self._kept(kept)
        if causes:
            self._told_growth.add(group.name)
            self._waiting.discard(group.name)
            self._recorder.tell_causes(group, causes)
        elif group.name not in self._told_growth:
            self._waiting.add(group.name)

    def _say(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            say(sentence)

    def close(self) -> None:
        """Asks what is left to ask, and takes the hooks off."""
        for group in self._recorder.groups():
            self.announced(group, group.incidents())
        if self._watch is not None:
            self._guard.run(self._watch.close)
            self._watch = None


class SessionExplainer:
    """Explains the first bad step of a TensorFlow 1 graph.

    Args:
      recorder, group: get the causes.
      gradients, variables, loss: as for `GradHealthHook`.
    """

    def __init__(
        self, recorder: Recorder, group: Group, gradients: Sequence[Any], variables: Sequence[Any], loss: Any
    ) -> None:
        self._recorder = recorder
        self._group = group
        self._guard = Guard("explaining gradients that are not finite")
        self._keeper = self._guard.run(_session_keeper, gradients, variables, loss)

    def attach(self, rows: Any, finite: Any) -> Any:
        """The tensor to fetch in place of `rows`; `finite` says whether the gradients are."""
        attached = None if self._keeper is None else self._guard.run(self._keeper.attach, rows, finite)
        return rows if attached is None else attached

    def look(self, step: int) -> None:
        """Tells the causes if the step just run was the first bad one."""
        if self._keeper is not None:
            self._guard.run(self._look, step)

    def _look(self, step: int) -> None:
        try:
            causes = self._keeper.causes(step)
        except Exception as error:
            say(f"no explanation of the NaN or Inf at step {step}: {error or type(error).__name__}")
            return
        if causes:
            self._recorder.tell_causes(self._group, causes)


def say(sentence: str) -> None:
    """One sentence on the terminal."""
    print(f"tb_gradhealth: {sentence}.", file=sys.stderr, flush=True)


def _session_keeper(gradients: Sequence[Any], variables: Sequence[Any], loss: Any) -> Any:
    from tb_gradhealth.explain.nonfinite.session_keep import SessionKeeper

    return SessionKeeper(gradients, variables, loss)


class _Watch:
    """Both hooks of `explain.nonfinite`: notes in graphs being traced, and the eager steps of this thread."""

    def __init__(self, eager: bool, huge: float) -> None:
        from tb_gradhealth.explain.nonfinite import gradient_calls
        from tb_gradhealth.explain.nonfinite.live import LiveWatch

        self._calls = gradient_calls
        self._live = LiveWatch(huge * _SHARE_OF_LARGEST)
        self.look = self._live.look
        self.rest = self._live.rest
        self.explosion = self._live.explosion
        gradient_calls.open_()
        self._live.open()
        if not eager:
            self.rest()

    def close(self) -> None:
        self._live.close()
        self._calls.close()


_SHARE_OF_LARGEST = 1 / 32
"""What the largest element has of a norm, of a thousand equal ones."""


def _open_watch(eager: bool, huge: float) -> _Watch:
    return _Watch(eager, huge)
