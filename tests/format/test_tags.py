"""Names on disk."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb_gradhealth.format.tags import RECORD_BYTES_PER_ROW, SEGMENT_BYTES, SeriesTag, parse, segment_records


@given(st.sampled_from(["records", "flight"]), st.text(), st.integers(0, 10**15), st.integers(0, 10**9))
def test_a_tag_parses_to_what_it_was_made_of(kind, group, generation, index) -> None:
    tag = SeriesTag(kind, group, generation, index)
    assert parse(str(tag)) == tag


@given(st.text(), st.integers(0, 10**15))
def test_a_schema_tag_has_no_index(group, generation) -> None:
    tag = SeriesTag("schema", group, generation)
    assert parse(str(tag)) == tag
    assert str(tag).count("/") == 2


@given(st.text())
def test_any_other_text_is_no_tag_of_ours_or_parses(text) -> None:
    for tag in (text, f"records/{text}", f"records/g/{text}/0", f"flight/g/1/{text}", f"schema/g/{text}"):
        parse(tag)


@pytest.mark.parametrize(
    "tag",
    ["loss", "", "records", "records/g/1", "records/g/1/2/3", "schema/g/1/2", "schema/g/x", "records/g/-1/0",
     "records/g/²/0", "records/g/٣/0", "records/g/1/" + "9" * 5000, "histogram/g/1/0"],
)  # fmt: skip
def test_what_is_not_a_tag_of_ours_is_none(tag) -> None:
    assert parse(tag) is None


def test_tags_sort_by_segment_also_as_text() -> None:
    tags = [str(SeriesTag("records", "g", 1, i)) for i in (0, 9, 10, 99, 100, 99_999)]
    assert tags == sorted(tags)


@pytest.mark.parametrize(("rows", "records"), [(0, 512), (1, 512), (949, 512), (1000, 486), (10**6, 1), (10**9, 1)])
def test_a_segment_holds_at_most_512_records_and_32_mebibytes(rows, records) -> None:
    assert segment_records(rows) == records
    assert records == 1 or records * rows * RECORD_BYTES_PER_ROW <= SEGMENT_BYTES
