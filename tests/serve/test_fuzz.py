"""Whatever is asked for, the answer is what was asked for or a sentence: never a fault of the server, never a page."""

import json

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from test_plugin import ADAM, BASE, World, world

__all__ = ["world"]  # the fixture

ROUTES = ("runs", "run", "tile", "lines", "variable", "rank", "report", "table", "index.js", "assets/x.js")
NAMES = ("run", "group", "first", "last", "columns", "metric", "keep", "replica", "variable", "variables")
ODD_NUMBERS = ["", "-0", "+1", "1e3", "0x1", "\u0663", "1_000", " 1", "1\n", "\x00", "null", "NaN", "--1", "9" * 400]
ODD_TEXTS = ["../../etc/passwd", "<script>", "x" * 5000, "\ud7ff\U0001f4a9", "%00", "'; drop table", "0," * 3000]
GOOD_TEXTS = ["a/gradhealth", "adam", "norm_max", "change", "smallest", "0-9", "1,0"]
NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70).map(str),
    st.floats().map(str),
    st.integers(-3, 60).map(str),
    st.sampled_from(ODD_NUMBERS),
)
TEXTS = st.one_of(st.text(max_size=40), NUMBERS, st.sampled_from(ODD_TEXTS + GOOD_TEXTS))
QUERIES = st.lists(st.tuples(st.one_of(st.sampled_from(NAMES), st.text(max_size=9)), TEXTS), max_size=9)


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def check(world: World, route: str, query: list[tuple[str, str]]) -> None:
    answer = world.client.get(BASE + route, query_string=query)
    assert answer.status_code in (200, 400, 404), (route, query)
    assert "html" not in answer.content_type
    if answer.status_code == 200:
        if answer.content_type.startswith("application/json"):
            json.loads(answer.get_data(), parse_constant=refuse)
        return
    sentence = answer.get_data(as_text=True)
    assert answer.content_type.startswith("text/plain")
    assert 10 < len(sentence) < 6000
    assert "Traceback" not in sentence


@settings(deadline=None, max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(ROUTES), QUERIES)
@example("tile", [("run", "a/gradhealth"), ("group", "adam"), ("first", "9007199254740992")])
def test_anything_may_be_asked(world, route, query) -> None:
    check(world, route, query)


@settings(deadline=None, max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(ROUTES), QUERIES.map(dict))
def test_anything_may_be_asked_of_a_group_that_is_there(world, route, query) -> None:
    check(world, route, list({**query, **ADAM}.items()))


def test_an_argument_given_twice_is_refused(world) -> None:
    for route in ("run", "tile", "lines"):
        answer = world.client.get(BASE + route, query_string=[*ADAM.items(), ("run", "other")])
        assert answer.status_code == 400
        assert answer.get_data(as_text=True).endswith("run must be given once. Received: 2 times.")
