"""Causes travel unchanged, and the same cause has the same name everywhere."""

import dataclasses

from tb_gradhealth.format.causes import Cause

CAUSE = Cause(
    kind="nan", reason_id="sqrt_at_zero", reason="the derivative of sqrt at 0 is infinite", op="Sqrt", file="train.py",
    line=41, code="loss = tf.sqrt(d)", phase="backward", fix="add a small epsilon under the root", certainty="likely",
    variables=("a", "b"), step=7, evidence=("3 of 64 inputs were exactly 0",), replica=1, group="adam",
)  # fmt: skip


def test_a_cause_survives_the_message() -> None:
    again = Cause.from_proto(type(CAUSE.to_proto()).FromString(CAUSE.to_proto().SerializeToString()))
    assert again == CAUSE
    assert again.id == CAUSE.to_proto().id


def test_every_field_travels() -> None:
    names = {f.name for f in dataclasses.fields(Cause)}
    assert names == {f.name for f in CAUSE.to_proto().DESCRIPTOR.fields} - {"id"}
    plain = Cause(kind="none", reason_id="unused", reason="never used", op="unused")
    for name in names - {"line", "step", "replica"}:
        assert getattr(CAUSE, name) != getattr(plain, name), "the example sets every field"


def test_the_id_is_of_the_place_and_the_reason_not_of_the_step() -> None:
    assert dataclasses.replace(CAUSE, step=99, evidence=(), variables=("c",)).id == CAUSE.id
    for change in ({"line": 42}, {"reason_id": "log_of_zero"}, {"kind": "inf"}, {"file": "b.py"}, {"group": "sgd"}):
        assert dataclasses.replace(CAUSE, **change).id != CAUSE.id


def test_a_cause_prints_its_place_its_reason_its_certainty_and_its_fix() -> None:
    assert str(CAUSE) == (
        "train.py:41: loss = tf.sqrt(d)\n  the derivative of sqrt at 0 is infinite (likely)\n"
        "  add a small epsilon under the root"
    )


def test_a_cause_without_a_line_prints_no_place() -> None:
    assert str(Cause(kind="none", reason_id="unused", reason="never used", op="unused")) == "never used"
