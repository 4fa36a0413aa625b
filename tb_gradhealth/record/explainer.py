"""Asking `explain` why gradients are ill, and telling the answer.

Promises: why gradients are None is in the log before the caller goes on; each cause is printed once, as one readable
block; the same question is asked once for each trace, in eager mode until it is answered, at most `TRIES` times; a
failure of the explanation is a warning and nothing else.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.causes import Cause
from tb_gradhealth.health import Incident, Thresholds
from tb_gradhealth.record.group import Group
from tb_gradhealth.record.guard import Guard
from tb_gradhealth.record.nonfinite_causes import NonfiniteExplainer
from tb_gradhealth.record.recorder import Recorder
from tb_gradhealth.record.schema import key_of, name_of

TRIES = 10
"""Eager steps at which a question is asked again: what explains it is only noted once it was asked."""

LASTING = Thresholds().start_steps
"""Steps in a row with zeros up to the end of a run that are asked about."""


@dataclasses.dataclass
class _Traced:
    """What one trace handed over, kept so that a question may still be asked when its steps have run."""

    gradients: Sequence[Any]
    variables: Sequence[Any]
    loss: Any


class Explainer:
    """Watches gradient calls while it is open.

    Args:
      recorder: gets the causes, and tells of incidents.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._guard = Guard("explaining gradients")
        self._tries: dict[tuple[Any, ...], int] = {}
        self._traced: dict[str, dict[int, _Traced]] = {}
        self._zero_wanted: dict[str, set[Any]] = {}
        self._watch = self._guard.run(_open_watch, self._told)
        if recorder.steps_are_traced and self._watch is not None:
            self._watch.rest()
        self._nonfinite = NonfiniteExplainer(recorder)
        recorder.on_announced = self._announced

    def look(
        self,
        group: Group,
        gradients: Sequence[Any],
        variables: Sequence[Any],
        loss: Any = None,
        step: Any = None,
        finite: Any = None,
    ) -> None:
        """Explains the gradients of a step being run or traced that are None, and of an eager one those that are ill.

        Args:
          loss, step: of the step, where they are known.
          finite: bool tensor ``[]``, whether the gradients are; None if not known.
        """
        self._nonfinite.look(group, gradients, variables, loss, step, finite)
        if self._watch is None:
            return
        if not tf.executing_eagerly():
            self._watch.owners = variables
            graph = id(tf.compat.v1.get_default_graph())
            self._traced.setdefault(group.name, {})[graph] = _Traced(list(gradients), list(variables), loss)
        none = [index for index, gradient in enumerate(gradients) if gradient is None]
        if none:
            self._ask(group, gradients, variables, "none", none, loss)
        wanted = self._zero_wanted.get(group.name)
        if wanted and tf.executing_eagerly():
            zero = [i for i, v in enumerate(variables) if gradients[i] is not None and key_of(v) in wanted]
            if zero and self._ask(group, gradients, variables, "zero", zero, loss):
                wanted.clear()

    def loss_of(self, gradients: Sequence[Any]) -> Any:
        """The loss of a step whose caller did not hand it over: what a tape differentiated; None if not known."""
        return None if self._watch is None else self._guard.run(self._watch.target_of, gradients)

    def failed(self, error: BaseException) -> None:
        """A step raised while it ran: tells the causes, if it was a derivative that failed."""
        if self._watch is not None:
            causes = self._guard.run(self._watch.causes_of_error, error) or []
            self._told(causes)
            if not causes:
                self._tell_what_was_never_recorded()

    def close(self) -> None:
        """Works in what was recorded last, so that its questions are still asked, and takes the hooks off."""
        if self._watch is not None:
            self._guard.run(self._recorder.flush)
            self._guard.run(self._ask_what_is_left)
            self._told(self._guard.run(self._watch.overlooked) or [])
            self._tell_what_was_never_recorded()
        self._nonfinite.close()
        self._traced.clear()
        if self._watch is not None:
            self._guard.run(self._watch.close)
            self._watch = None

    def _tell_what_was_never_recorded(self) -> None:
        """Gradients that were None, of a step that failed before it was recorded; for a run without any step."""
        if self._watch is not None and all(group.schema is None for group in self._recorder.groups()):
            self._told(self._guard.run(self._watch.unrecorded) or [])

    def _ask_what_is_left(self) -> None:
        """Zeros that a run ends with, if it is too short for them to have been announced."""
        for group in self._recorder.groups():
            left = [incident for incident in group.incidents() if _lasts(incident)]
            if left:
                self._announced(group, left)
            wanted = self._zero_wanted.pop(group.name, None)
            if wanted:
                self._ask_recorded(group, wanted, fresh=False)

    def _ask(
        self, group: Group, gradients: Sequence[Any], variables: Sequence[Any], kind: str, places: list[int], loss: Any
    ) -> bool:
        """Whether the question has been settled."""
        eager = tf.executing_eagerly()
        graph = None if eager else id(tf.compat.v1.get_default_graph())
        question = (group.name, graph, kind, tuple(places))
        tries = self._tries.get(question, 0)
        if tries >= (TRIES if eager else 1):
            return True
        causes = (
            self._guard.run(
                self._watch.causes_of, gradients, variables, {kind: places}, loss=loss, names=_names(group, variables)
            )
            or []
        )
        self._tries[question] = TRIES if causes else tries + 1
        self._recorder.tell_causes(group, causes)
        return bool(causes)

    def _announced(self, group: Group, incidents: Sequence[Incident | pb.Incident]) -> None:
        """Asks why gradients are zero, once it is known that they stay so, and why they explode."""
        self._nonfinite.announced(group, incidents)
        for incident in incidents:
            if incident.kind == "zero":
                keys = {key_of(group.variables[row % len(group.variables)]) for row in incident.rows}
                if not self._ask_traced(group, keys) and not self._ask_recorded(group, keys, fresh=True):
                    self._zero_wanted.setdefault(group.name, set()).update(keys)

    def _ask_recorded(self, group: Group, keys: set[Any], fresh: bool) -> bool:
        """Asks about the last step that was noted while it ran eagerly; whether there was an answer.

        Args:
          fresh: only if its gradients are still at hand, to see that they were zero.
        """
        if self._watch is None or not tf.executing_eagerly():
            return False
        places = [place for place, variable in enumerate(group.variables) if key_of(variable) in keys]
        nothing = [None] * len(group.variables)
        owners = group.variables
        ask, names = self._watch.causes_of, _names(group, owners)
        causes = self._guard.run(ask, nothing, owners, {"zero": places}, names=names, fresh=fresh) or []
        self._recorder.tell_causes(group, causes)
        return bool(causes)

    def _ask_traced(self, group: Group, keys: set[Any]) -> bool:
        """Asks about what was traced; whether there was an answer."""
        answered = False
        if self._watch is None:
            return answered
        for traced in self._traced.get(group.name, {}).values():
            places = [
                i for i, v in enumerate(traced.variables) if traced.gradients[i] is not None and key_of(v) in keys
            ]
            if places:
                ask = self._watch.causes_of
                names = _names(group, traced.variables)
                causes = self._guard.run(
                    ask, traced.gradients, traced.variables, {"zero": places}, loss=traced.loss, names=names
                )
                self._recorder.tell_causes(group, causes or [])
                answered |= bool(causes)
        return answered

    def _told(self, causes: Sequence[Cause]) -> None:
        group = self._recorder.first_group()
        if group is not None and any(cause.kind == "error" for cause in causes):
            self._recorder.drain()
            step = group.last_step_plus_one()
            causes = [dataclasses.replace(c, step=step) if c.kind == "error" and c.step < 0 else c for c in causes]
        self._recorder.tell_causes(group, causes)


def _lasts(incident: Incident | pb.Incident) -> bool:
    """Whether gradients have been zero at every step up to now: from the first one, or for `LASTING` of them."""
    unbroken = incident.steps == incident.last_step - incident.first_step + 1
    return (
        incident.kind == "zero"
        and incident.open
        and (incident.first_step <= 0 or (unbroken and incident.steps >= LASTING))
    )


def _names(group: Group, variables: Sequence[Any]) -> list[str]:
    """The names that the group's schema gives these variables."""
    at = {key_of(variable): index for index, variable in enumerate(group.variables)}
    return [name_of(variable, at.get(key_of(variable), place)) for place, variable in enumerate(variables)]


def _open_watch(on_causes: Any) -> Any:
    from tb_gradhealth.explain.tape_watch import TapeWatch

    watch = TapeWatch(on_causes)
    watch.open()
    return watch
