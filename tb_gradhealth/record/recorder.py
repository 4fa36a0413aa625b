"""The recorder: takes gradients where they arise, and sees to everything that follows.

    gradients -> Channel (device ring) -> drain -> Group (windows, health, flight) -> LiveLog

Promises: no host code of ours raises into training (`guard`); the host reads the device when a ring is about to wrap,
or at most about once a second; a new incident is told within a second, or ten steps where a step takes longer.
Thread-safe: a poller may drain while the training thread records.
"""

import dataclasses
import sys
import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tb_gradhealth.format.causes import Cause
from tb_gradhealth.format.windows import Windows
from tb_gradhealth.health import Incident, Thresholds
from tb_gradhealth.health.causes import cause_of
from tb_gradhealth.record import history
from tb_gradhealth.record.alarms.alarm import Training
from tb_gradhealth.record.alarms.dispatch import Alarms, OnIncident
from tb_gradhealth.record.arguments import checked_every, checked_ignore
from tb_gradhealth.record.causes_told import as_block
from tb_gradhealth.record.channel import Channel
from tb_gradhealth.record.evidence import Evidence, OnBadStep, StepKeeper
from tb_gradhealth.record.group import Group
from tb_gradhealth.record.guard import Guard
from tb_gradhealth.record.log import LiveLog
from tb_gradhealth.record.places import here, replica_devices
from tb_gradhealth.record.poller import Poller
from tb_gradhealth.record.portions import in_order, in_portions
from tb_gradhealth.record.ring import StepFacts, step_counter
from tb_gradhealth.record.schema import GroupFacts, key_of
from tb_gradhealth.record.session_rows import SessionRows
from tb_gradhealth.record.sink import checked_log_dir
from tb_gradhealth.record.step import NOT_WRITTEN, PLAIN, Handling, Written
from tb_gradhealth.record.withholding import RECORD

CAPACITY = 64
"""Steps a ring holds, unless one call to the device runs more than half as many."""

SHARE_OF_ONE = 0.1
"""What the gradient of one variable may have of a group's norm; see `Thresholds.huge_ratio`."""

LOOK_SECONDS = 1.0
"""The host looks at the device once this time has passed, and before a ring wraps; what it has fetched is worked in
once this time has passed, or at once where there is a NaN or an Inf."""


class Recorder:
    """Records one run.

    Args:
      log_dir: the run is written below it.
      every: ``"auto"`` or the width of the stored windows in steps.
      thresholds: of the health rules.
      on_incident: called with each new `Incident`, in the thread that found it; or several of such.
      on_nonfinite: what becomes of updates that are not finite, as the alarms are told.
      ignore: names of variables (or layers) that are expected to get no gradient.

    Raises:
      TypeError, ValueError: an argument is not what it should be.
    """

    def __init__(
        self,
        log_dir: Any,
        *,
        every: int | str = "auto",
        thresholds: Thresholds | None = None,
        on_incident: OnIncident = None,
        ignore: Collection[str] = (),
        on_nonfinite: str = RECORD,
    ) -> None:
        self.log_dir = checked_log_dir(log_dir)
        self.every = checked_every(every)
        self.thresholds = thresholds or Thresholds()
        self._ignore = checked_ignore(ignore)
        self._guard = Guard(f"recording to {self.log_dir!r}")
        self._lock = threading.RLock()
        self._log = LiveLog(self.log_dir)
        self._groups: dict[str, Group] = {}
        self._counters: dict[str, list[Any]] = {}
        self._channels: dict[tuple[Any, ...], tuple[str, Channel | SessionRows]] = {}
        self._unread = 0
        self.looks = 0
        """How often the host has looked at the device: what it knows is as it was the last time."""
        self._looked = self._worked = float("-inf")
        self._host_seconds = 0.0
        self._poller = Poller(self.look)
        self._explain_guard = Guard("explaining gradients that are not finite")
        self.evidence = Evidence()
        self.evidence.huge = self.thresholds.huge_ratio * SHARE_OF_ONE
        self.training = Training(self.log_dir, self.evidence, on_nonfinite, variables=self._variables)
        self._alarms = Alarms(on_incident, self.training)
        self.on_announced: Callable[[Group, Sequence[Incident]], object] = lambda group, incidents: None
        """Called with a group and its new incidents, before the user's `on_incident`."""
        self.on_fed: Callable[[Group], object] = lambda group: None
        """Called with a group when steps of it have been worked in."""
        self.steps_are_traced = False
        """Whether the last step handed over was one being traced."""
        self.closed = False

    # Where gradients arise ------------------------------------------------------------------------------------------

    def group(self, name: str, facts: GroupFacts) -> Group:
        """The group of that name; made on first use."""
        with self._lock:
            if name not in self._groups:
                self._groups[name] = Group(name, facts, self.thresholds, self._ignore)
            return self._groups[name]

    def first_group(self) -> Group | None:
        """The group that was made first."""
        return next(iter(self._groups.values()), None)

    def forget_variables(self) -> None:
        """Another model's variables are going to be recorded: the groups go on, without those of the former."""
        self.drain()
        with self._lock:
            self._channels.clear()
            for group in self._groups.values():
                group.forget_variables()

    def channel(self, group: Group, variables: Sequence[Any], capacity: int = CAPACITY) -> Channel:
        """The channel for a list of variables of a group; made on first use."""
        key = (group.name, *map(key_of, variables))
        with self._lock:
            found = self._channels.get(key)
            if found is None or not isinstance(found[1], Channel):
                devices = replica_devices(group.facts.replicas)
                channel = Channel(variables, self._counters_of(group), devices, capacity, group.facts.clipping)
                self._channels[key] = (group.name, channel)
            else:
                channel = found[1]
            group.hand_over(variables)
            return channel

    def add_channel(self, group: Group, variables: Sequence[Any], channel: SessionRows) -> None:
        """Steps of these variables come from a channel of another kind."""
        with self._lock:
            key = (group.name, *map(key_of, variables))
            self._channels[key] = (group.name, channel)
            group.hand_over(variables)

    def record(
        self, group: Group, channel: Channel, gradients: Sequence[Any], facts: StepFacts, how: Handling = PLAIN
    ) -> Written:
        """Records one step from where its gradients are: eagerly, or as operations of the function being traced.

        Call `eager_step_done` when its update is done.
        """
        replica = here(group.facts.replicas)

        def new_keeper() -> StepKeeper | None:
            return self.evidence.keeper(group.name, channel.variables, how.withhold)

        if tf.executing_eagerly():
            written = self._guard.run(channel.write_eagerly, gradients, facts, how, replica, new_keeper)
            return written or NOT_WRITTEN
        keeper = new_keeper()
        if keeper is not None:
            step = self.evidence.model_step
            keeper.of_graph(gradients, facts.loss, None if step is None else step.data())
        return self._guard.run(channel.write, gradients, facts, how, replica, keeper) or NOT_WRITTEN

    def eager_step_done(self, group: Group) -> None:
        """A step was recorded and updated; does nothing while a function is being traced."""
        if tf.executing_eagerly() and here(group.facts.replicas) == group.facts.replicas - 1:
            self.tick(1)

    def attend_by_poller(self) -> None:
        """From now on steps run that the host does not see: look at the device from a thread."""
        self._poller.start()

    # Between steps --------------------------------------------------------------------------------------------------

    def tick(self, steps: int, capacity: int = CAPACITY) -> bool:
        """The host knows that up to `steps` further steps were run. Looks at the device if it is time."""
        self._unread += steps
        if self._unread + steps > capacity or time.monotonic() - self._looked >= LOOK_SECONDS:
            self.look()
            return True
        return False

    def look(self) -> int:
        """Fetches what was recorded, and works it in if it is time. Returns how many steps were new."""
        begin = time.perf_counter()
        with self._lock, tf.init_scope():  # also when a function is being traced
            steps, urgent = self._guard.run(self._fetch) or (0, False)
            self._host_seconds += time.perf_counter() - begin
            if urgent or time.monotonic() - self._worked >= LOOK_SECONDS:
                self.drain()
        return steps

    def _fetch(self) -> tuple[int, bool]:
        self._unread = 0
        self.looks += 1
        self._looked = time.monotonic()
        found = [channel.fetch() for _, channel in self._channels.values()]
        return sum(steps for steps, _ in found), any(urgent for _, urgent in found)

    def drain(self) -> int:
        """Reads all that was recorded and works it in. Returns how many steps that were."""
        begin = time.perf_counter()
        with self._lock, tf.init_scope():
            self._unread = 0
            self.looks += 1
            self._looked = self._worked = time.monotonic()
            count = self._guard.run(self._drain) or 0
            self._host_seconds += time.perf_counter() - begin
        return count

    def _drain(self) -> int:
        found: dict[str, list[Windows]] = {}
        for name, channel in self._channels.values():
            group = self._groups[name]
            place = group.place_of(channel.variables, channel.empty)
            parts = channel.read(place)
            if parts:
                found.setdefault(name, []).extend(parts)
        count = 0
        for name, parts in found.items():
            windows = in_order(parts)
            count += int(windows.steps.sum())
            for portion in in_portions(windows):
                self._feed(self._groups[name], portion)
                self._fetch()
        if self._log.refresh_due():
            self._write_pending()
            self._write_incidents()
        self._log.flush_if_due()
        return count

    def _feed(self, group: Group, windows: Windows) -> None:
        windows.wall_time[np.isnan(windows.wall_time)] = time.time()
        windows.record_seconds[-1] = self._host_seconds
        self._host_seconds = 0.0
        begun = group.renew(self._log.writer, int(windows.first_step[0]))
        self._log.step = max(self._log.step, int(windows.last_step[-1]))
        incidents = group.feed(windows, self._log.writer)
        if incidents:
            self._write_incidents()
        if incidents or begun:
            self._log.flush()
        self._explain_bad_steps(group, windows)
        if incidents:
            self._explain_guard.run(self.on_announced, group, incidents)
        self._explain_guard.run(self.on_fed, group)
        for incident in incidents:
            self._alarms.tell(dataclasses.replace(incident, cause=cause_of(incident, self._log.causes)))

    def _write_incidents(self) -> None:
        self._log.write_incidents([i for group in self._groups.values() for i in group.incidents()])

    def _variables(self) -> list[Any]:
        return [variable for group in self._groups.values() for variable in group.variables]

    def groups(self) -> list[Group]:
        """All groups."""
        return list(self._groups.values())

    # Causes and evidence --------------------------------------------------------------------------------------------

    def add_causes(self, causes: Sequence[Cause]) -> list[Cause]:
        """Writes causes at once. Returns those that were new."""
        with self._lock:
            return self._guard.run(self._log.add_causes, causes) or []

    def on_bad_step(self, callback: OnBadStep) -> None:
        """Calls back with the first step of each trace that had a NaN or an Inf, and writes the causes it returns.

        See `evidence`: register before anything is hooked or recorded, or nothing is kept.
        """
        self.evidence.register(callback)

    def _explain_bad_steps(self, group: Group, windows: Windows) -> None:
        ill = (windows.nan_steps + windows.inf_steps > windows.handled_steps).any(axis=1)
        bad = windows.select(np.asarray(ill | (windows.loss_nonfinite_steps > 0)))
        if len(bad):
            causes = self._explain_guard.run(self.evidence.causes, group.name, bad, group.variables)
            self.tell_causes(group, causes or ())

    def tell_causes(self, group: Group | None, causes: Sequence[Cause]) -> None:
        """Writes causes to the log and prints those that are new. None: nothing has been recorded yet."""
        name = "" if group is None else group.name
        for cause in self.add_causes([dataclasses.replace(cause, group=name) for cause in causes]):
            print(as_block(cause), file=sys.stderr, flush=True)

    def record_without_gradients(self, group: Group, variables: Sequence[Any]) -> None:
        """Puts a step on disk at once whose gradients are all None and that will not run: it failed while tracing."""
        self.drain()
        with self._lock, tf.init_scope():
            self._guard.run(self._record_without_gradients, group, variables)

    def _record_without_gradients(self, group: Group, variables: Sequence[Any]) -> None:
        place = group.place_of(variables, [False] * len(variables))
        self._feed(group, history.all_none_step(place, self.next_step(group)))
        self._flush()

    # Steps ----------------------------------------------------------------------------------------------------------

    def next_step(self, group: Group) -> int:
        """The number of the next step recorded without one."""
        return int(self._counters_of(group)[0].numpy())

    def bad_steps(self) -> int:
        """Steps so far at which a gradient was NaN, Inf (unless the loss scaler handled it) or missing.

        Of those that were fetched (`look`), whether they have been worked in or not.
        """
        with self._lock:
            waiting = self._guard.run(self._bad_steps_waiting) or 0
            return int(waiting) + sum(group.bad_steps for group in self._groups.values())

    def _bad_steps_waiting(self) -> int:
        return sum(
            channel.bad_steps(self._groups[name].expects_none(channel.variables))
            for name, channel in self._channels.values()
        )

    def last_global_norm(self) -> float:
        """The global norm of the first group's last step that was fetched; NaN before the first."""
        group = self.first_group()
        if group is None:
            return float("nan")
        with self._lock:
            waiting = self._guard.run(self._norm_waiting, group)
            return group.last_global_norm if waiting is None else float(waiting)

    def _norm_waiting(self, group: Group) -> float | None:
        norms = [channel.last_global_norm() for name, channel in self._channels.values() if name == group.name]
        return next((norm for norm in reversed(norms) if norm is not None), None)

    def number_from(self, group: Group, step: int) -> None:
        """The next step recorded without a number gets this one."""
        with self._lock:
            for counter in self._counters_of(group):
                counter.assign(step)

    def _counters_of(self, group: Group) -> list[Any]:
        if group.name not in self._counters:
            self._counters[group.name] = [step_counter() for _ in range(group.facts.replicas)]
        return self._counters[group.name]

    # The end --------------------------------------------------------------------------------------------------------

    def flush(self) -> None:
        """Works in and writes out all that was recorded, incomplete windows included."""
        self.drain()
        with self._lock:
            self._guard.run(self._flush)

    def _flush(self) -> None:
        self._write_pending()
        self._write_incidents()
        self._log.flush()

    def _write_pending(self) -> None:
        for group in self._groups.values():
            if group.pending_steps:
                group.write_pending(self._log.writer)

    def close(self) -> None:
        """Flushes and closes the log. Nothing can be recorded afterwards; a second call does nothing."""
        if self.closed:
            return
        self._poller.stop()
        self.flush()
        with self._lock:
            self.closed = True
            self._guard.run(self._log.close)
            self._channels.clear()
        self._alarms.close()
