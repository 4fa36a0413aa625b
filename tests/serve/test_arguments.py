"""Arguments of requests."""

import pytest
from tensorboard import errors

from tb_gradhealth.serve.arguments import Arguments


def test_defaults() -> None:
    args = Arguments({})
    assert (args.first, args.last, args.columns, args.metric, args.smallest, args.replica) == (
        None, None, 1024, "norm_max", False, None,
    )  # fmt: skip


def test_what_is_given_is_taken() -> None:
    args = Arguments(
        {"run": "a/b", "group": "", "first": "-3", "last": "9007199254740992", "columns": "4096", "metric": "change",
         "keep": "smallest", "replica": "1", "variable": "7", "variables": "3,1,3,"}
    )  # fmt: skip
    assert (args.run, args.group, args.first, args.last) == ("a/b", "", -3, 2**53)
    assert (args.columns, args.metric, args.smallest, args.replica) == (4096, "change", True, 1)
    assert (args.variable, args.variables) == (7, [3, 1])


@pytest.mark.parametrize(
    ("name", "value"),
    [("columns", v) for v in ("0", "4097", "-1", "1e3", "٣", "9" * 30, "", "0x10", " 5", "5\n")]
    + [("first", "1.5"), ("last", "nan"), ("last", "9007199254740993"), ("replica", "-1"), ("variable", "-1")]
    + [("metric", "norm"), ("metric", "__class__"), ("keep", "best"), ("run", "x" * 4097), ("group", "x" * 4097)]
    + [
        ("variables", ""),
        ("variables", ",".join(map(str, range(33)))),
        ("variables", "1,a"),
        ("variables", "0," * 999),
    ],
)
def test_what_makes_no_sense_is_answered_with_what_was_received_and_what_is_wanted(name, value) -> None:
    attribute = "smallest" if name == "keep" else name
    with pytest.raises(errors.InvalidArgumentError, match=name) as caught:
        getattr(Arguments({name: value}), attribute)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", ["run", "group", "variable", "variables"])
def test_what_is_missing_is_named(name) -> None:
    with pytest.raises(errors.InvalidArgumentError, match=name):
        getattr(Arguments({}), name)


def test_selected_variables_are_indices_and_ranges_each_once() -> None:
    assert Arguments({}).selected is None
    assert Arguments({"variables": "7"}).selected == [7]
    assert Arguments({"variables": "3-5,0,4,9-9"}).selected == [3, 4, 5, 0, 9]
    assert len(Arguments({"variables": "0-4095"}).selected or ()) == 4096


@pytest.mark.parametrize(
    "value", ["", ",", "1,", "5-3", "0-4096", "0-4000,5000-5200", "1-2-3", "-1", "0-9999999999", "a"]
)
def test_selected_variables_that_make_no_sense_are_refused(value) -> None:
    with pytest.raises(errors.InvalidArgumentError, match="variables must be") as caught:
        Arguments({"variables": value}).selected  # noqa: B018
    assert len(str(caught.value)) < 300
