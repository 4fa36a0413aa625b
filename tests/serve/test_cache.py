"""Segments in memory, bounded."""

from serve_world import random_steps
from test_segment import stored

from tb_gradhealth.serve.cache import SegmentCache
from tb_gradhealth.serve.segment import Segment


def segment(rows: int = 10) -> Segment:
    return Segment(stored(random_steps(0, 4, rows, ill=0)), rows)


def test_what_was_not_used_for_longest_goes_first() -> None:
    size = segment().nbytes
    cache = SegmentCache(2 * size)
    for key in "ab":
        cache.put(key, 1, segment())
    assert cache.get("a", 1) is not None
    cache.put("c", 1, segment())
    assert [cache.get(key, 1) is not None for key in "abc"] == [True, False, True]
    assert cache.nbytes == 2 * size


def test_it_never_holds_more_than_its_limit_but_for_one_segment() -> None:
    cache = SegmentCache(10)
    for key in range(5):
        cache.put(key, 1, segment())
        assert cache.nbytes == segment().nbytes
    assert cache.get(4, 1) is not None


def test_another_version_is_not_found_and_takes_the_place_of_the_first() -> None:
    cache = SegmentCache(10**6)
    cache.put("a", 1, segment())
    assert cache.get("a", 2) is None
    cache.put("a", 2, segment(20))
    assert cache.get("a", 1) is None
    assert cache.nbytes == segment(20).nbytes


def test_a_dropped_segment_takes_no_memory() -> None:
    cache = SegmentCache(10**6)
    cache.put("a", 1, segment())
    cache.drop("a")
    cache.drop("never there")
    assert cache.nbytes == 0
