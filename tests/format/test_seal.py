"""Seals: damage is noticed, and nothing else is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.log import Stored, assemble
from tb_gradhealth.format.seal import sealed, unsealed


@given(st.binary(max_size=300))
def test_what_was_sealed_is_unsealed(payload) -> None:
    assert unsealed(sealed(payload)) == payload
    assert len(sealed(payload)) == len(payload) + 11


@given(st.binary(min_size=1, max_size=80), st.data())
def test_any_bit_that_turns_over_in_the_content_is_noticed(payload, data) -> None:
    damaged = bytearray(sealed(payload))
    at = data.draw(st.integers(0, 8 * len(payload) - 1))
    damaged[at // 8] ^= 1 << (at % 8)
    with pytest.raises(ValueError, match="checksum"):
        unsealed(bytes(damaged))


def test_what_has_no_seal_passes() -> None:
    assert unsealed(b"") == b""
    assert unsealed(b"written before there were seals") == b"written before there were seals"


def test_a_parser_that_knows_no_seals_reads_the_message() -> None:
    schema = pb.Schema(group="adam", format_version=1)
    read = pb.Schema.FromString(sealed(schema.SerializeToString()))
    assert (read.group, read.format_version) == ("adam", 1)


def test_no_message_uses_the_number_of_the_seal() -> None:
    for message in pb.DESCRIPTOR.message_types_by_name.values():
        assert 100 not in message.fields_by_number


def test_a_norm_that_was_damaged_is_left_out_and_told() -> None:
    def stored(tag: str, step: int, payload: bytes) -> Stored:
        return Stored(tag, step, 0.0, payload)

    schema = pb.Schema(group="adam", generation=1, format_version=1)
    schema.variables.add(name="kernel")
    records = []
    for step in range(3):
        record = pb.Record(first_step=step, last_step=step, steps=1)
        record.state_last, record.norm_last = b"\x01", np.float32([0.5]).tobytes()
        records.append(bytearray(sealed(record.SerializeToString())))
    at = bytes(records[1]).index(np.float32([0.5]).tobytes())
    records[1][at + 3] ^= 0x40  # 0.5 becomes a norm like any other
    run = assemble(
        [stored("schema/adam/1", 0, sealed(schema.SerializeToString()))]
        + [stored("records/adam/1/000000", i, bytes(r)) for i, r in enumerate(records)]
    )
    assert run.groups["adam"].windows.first_step.tolist() == [0, 2]
    (problem,) = run.problems
    assert "step 1: its checksum is not that of its content" in problem
