"""What recording adds to one step: one look at the gradients, one row into the ring, and one branch for all the rest.

Nearly every step has finite gradients, a place in the ring that the host has read, and no detailed numbers to compute.
Such a step runs one reduction for each gradient and about thirty small operations, whatever the number of variables.
All else is behind one predicate, in a branch that costs nothing while it is not taken (`tracing.rarely`).
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from tb_gradhealth.record.detail import Detail
from tb_gradhealth.record.evidence import StepKeeper
from tb_gradhealth.record.ring import Ring, Slot, StepFacts, block_of, pack_row, then_true
from tb_gradhealth.record.statistics import FirstLook, Measured, astuple, unscaled
from tb_gradhealth.record.tracing import rarely


@dataclasses.dataclass(frozen=True)
class Handling:
    """What will be done with a step's gradients; known while tracing.

    Attributes:
      scaled: they carry the loss scale.
      scaler_skips: a loss scaler withholds the update where they are not finite.
      withhold: we withhold it there.
      detail: steps from one with detailed numbers to the next; 0 for none.
      updates: the update follows, and the caller tells when it is done (`Written.detail`).
    """

    scaled: bool = False
    scaler_skips: bool = False
    withhold: bool = False
    detail: int = 0
    updates: bool = False


PLAIN = Handling()


@dataclasses.dataclass(frozen=True)
class Written:
    """What recording a step gave.

    Attributes:
      finite: bool ``[]``, whether no gradient holds a NaN or an Inf; None where recording failed (a warning said so).
      detail: to be finished after the update, if the step may be a detailed one; else None.
    """

    finite: Any
    detail: Detail | None


NOT_WRITTEN = Written(None, None)


def write_step(
    ring: Ring,
    gradients: Sequence[Any],
    variables: Sequence[Any],
    facts: StepFacts,
    how: Handling,
    keeper: StepKeeper | None = None,
) -> Written:
    """Records one step, in a graph; details by the schedule of `how`."""
    slot = ring.next(facts.step)
    look = FirstLook(gradients)
    again, detail = look.suspect(), None
    due: Any = False
    if how.detail:
        due = ring.detail_due(slot, how.detail)
        detail = Detail(ring, slot.seq, due, variables, how.updates)
        again = tf.logical_or(again, due)
    rare = tf.logical_or(again, slot.full)
    wanted = None if keeper is None or how.scaler_skips else keeper.wants(look.norms())
    if wanted is not None:
        rare = tf.logical_or(rare, wanted)

    def taken() -> list[Any]:
        columns = tf.cond(again, lambda: astuple(look.again(due)), lambda: astuple(look.alone()))
        measured = _final(Measured(*columns), facts, how)
        finite = _see_to(ring, slot, measured, how, keeper)
        return [block_of(measured), finite, *(detail.begin(measured) if detail else ())]

    def passed() -> list[Any]:
        measured = _final(look.alone(), facts, how)
        return [block_of(measured), tf.constant(True), *(detail.nothing() if detail else ())]

    block, finite, *before = rarely(rare, taken, passed)
    ring.put(slot, pack_row(block, _told(facts, finite, how), slot.seq, slot.step))
    if detail is not None:
        detail.hold(before)
    return Written(finite, detail)


def write_detailed(
    ring: Ring, gradients: Sequence[Any], facts: StepFacts, how: Handling, keeper: StepKeeper | None = None
) -> tuple[Any, Any, Measured]:
    """Records one step of which all is looked at. Returns whether it is finite, its sequence number, the numbers."""
    slot = ring.next(facts.step)
    measured = _final(FirstLook(gradients).again(True), facts, how)
    finite = _see_to(ring, slot, measured, how, keeper)
    ring.put(slot, pack_row(block_of(measured), _told(facts, finite, how), slot.seq, slot.step))
    return finite, slot.seq, measured


def _see_to(ring: Ring, slot: Slot, measured: Measured, how: Handling, keeper: StepKeeper | None) -> Any:
    """What a step may need besides being written. Returns whether it is finite."""
    finite = measured.finite()
    tf.cond(slot.full, then_true(lambda: ring.make_room(slot)), lambda: tf.constant(True))
    if keeper is not None and not how.scaler_skips:
        keeper.keep(finite, slot.seq)
    return finite


def _final(measured: Measured, facts: StepFacts, how: Handling) -> Measured:
    return unscaled(measured, facts.loss_scale) if how.scaled and facts.loss_scale is not None else measured


def _told(facts: StepFacts, finite: Any, how: Handling) -> StepFacts:
    """The facts, with whether this step's update is withheld."""
    if not (how.scaler_skips or how.withhold):
        return facts
    name = "handled" if how.scaler_skips else "skipped"
    return dataclasses.replace(facts, **{name: tf.logical_not(finite)})
