"""The routes over HTTP, in this process, with a data provider in memory."""

import json
import re
import struct
from typing import Any

import numpy as np
import pytest
from serve_world import INF, NAN, NONE, OK, FakeProvider, plugin, random_steps, schema, steps
from tensorboard.backend.application import TensorBoardWSGI
from werkzeug.test import Client

from tb_gradhealth import __version__
from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.causes import Cause

NAMES = ["enc/k<script>", 'dec/"ü"']
BASE = "/data/plugin/gradhealth/"


class World:
    def __init__(self, **context: Any) -> None:
        self.provider = FakeProvider()
        self.plugin = plugin(self.provider, **context)
        self.app = TensorBoardWSGI([self.plugin], data_provider=self.provider)
        self.client = Client(self.app)

    def begin(self, run: str = "a/gradhealth", names=NAMES, **more: Any):
        writer = self.provider.writer(run)
        writer.schema(schema(names, **more))
        return writer

    def get(self, route: str, **query: Any):
        return self.client.get(BASE + route, query_string=query)

    def json(self, route: str, **query: Any) -> Any:
        answer = self.get(route, **query)
        assert answer.status_code == 200, answer.get_data(as_text=True)
        assert answer.content_type == "application/json"
        return json.loads(answer.get_data(as_text=True), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


@pytest.fixture
def world() -> World:
    world = World()
    writer = world.begin()
    states = np.full((40, 2), OK)
    states[30:, 1] = NAN
    writer.records(steps(0, states, 0.5), "adam", 1_000)
    cause = Cause(kind="nan", reason_id="sqrt", reason="<b>", op="Sqrt", variables=(NAMES[1],), step=30, group="adam")
    writer.causes(pb.Causes(format_version=1, causes=[cause.to_proto()]), 39)
    return world


ADAM = {"run": "a/gradhealth", "group": "adam"}


def parsed(data: bytes) -> dict[str, Any]:
    """A tile, by its layout in `http_api.md`."""
    (length,) = struct.unpack("<I", data[:4])
    assert (4 + length) % 8 == 0
    header = json.loads(data[4 : 4 + length])
    rows, columns, at = header["rows"], header["columns"], 4 + length
    arrays = {}
    for name, dtype, count in (
        ("first", "<f8", columns),
        ("last", "<f8", columns),
        ("values", "<f4", rows * columns),
        ("states", "u1", rows * columns),
    ):
        arrays[name] = np.frombuffer(data, dtype, count, at)
        at += arrays[name].nbytes
    assert at == len(data)
    return {**header, **arrays}


def test_runs_lists_all_of_them_and_tells_the_verdict_once_it_is_known(world) -> None:
    world.provider.stored["train"] = {}
    nothing = dict.fromkeys(("verdict", "sentence", "first_step", "last_step", "wall_time", "newer_format"))
    empty = {"run": "train", "has_data": False, **nothing}
    unknown = {**nothing, "run": "a/gradhealth", "has_data": True, "last_step": 39, "wall_time": 1042.0}
    assert world.json("runs") == {"version": __version__, "runs": [unknown, empty]}
    world.json("run", run="a/gradhealth")
    known = world.json("runs")["runs"][0]
    assert (known["verdict"], known["first_step"]) == ("unhealthy", 0)
    assert known["sentence"].startswith("Unhealthy: ")


def test_no_runs_are_an_empty_list() -> None:
    assert World().json("runs") == {"version": __version__, "runs": []}


def test_run_tells_all_that_the_page_shows_of_a_run(world) -> None:
    found = world.json("run", run="a/gradhealth")
    assert set(found) == {
        "run", "revision", "first_step", "last_step", "steps", "wall_time", "verdict", "sentence", "checked", "groups",
        "incidents", "causes", "sampling", "problems", "newer_format",
    }  # fmt: skip
    assert (found["run"], found["first_step"], found["last_step"], found["steps"]) == ("a/gradhealth", 0, 39, 40)
    assert found["verdict"] == "unhealthy"
    assert found["sampling"] is found["newer_format"] is None
    (group,) = found["groups"]
    assert {k: v for k, v in group.items() if k != "variables"} == {
        "name": "adam", "optimizer": "Adam", "hooked": "keras.fit", "replicas": 1, "every": "auto", "clip_norm": 1.5,
        "global_clip_norm": None, "clip_value": None, "norm_of": "gradient", "software": {"tensorflow": "2.21.0"},
        "first_step": 0, "last_step": 39,
    }  # fmt: skip
    assert [v["name"] for v in group["variables"]] == NAMES
    ill = group["variables"][1]
    assert (ill["state"], ill["since"], ill["norm"], ill["role"], ill["shape"]) == ("nan", 30, None, "trained", [2, 3])
    assert group["variables"][0]["norm"] == 0.5
    (incident,) = [i for i in found["incidents"] if i["kind"] == "nan"]
    assert (incident["first_step"], incident["last_step"], incident["steps"]) == (30, 39, 10)
    assert (incident["variables"], incident["replicas"], incident["open"]) == ([1], [0], True)
    (cause,) = found["causes"]
    assert incident["cause"] == cause["id"]
    assert (cause["reason"], cause["variables"], cause["line"]) == ("<b>", [NAMES[1]], 0)


def test_a_tile_is_laid_out_as_described(world) -> None:
    found = parsed(world.get("tile", **ADAM, columns=4).get_data())
    assert (found["rows"], found["columns"], found["metric"]) == (2, 4, "norm_max")
    assert (found["first_step"], found["last_step"]) == (0, 39)
    assert found["first"].tolist() == [0, 10, 20, 30]
    assert found["last"].tolist() == [9, 19, 29, 39]
    assert found["states"].tolist() == [OK] * 4 + [OK] * 3 + [NAN]
    np.testing.assert_array_equal(found["values"], [0.5] * 7 + [np.nan])
    assert found["revision"] == world.json("run", run="a/gradhealth")["revision"]


def test_a_tile_of_some_variables_says_which(world) -> None:
    found = parsed(world.get("tile", **ADAM, columns=4, variables="1").get_data())
    assert (found["rows"], found["variables"], found["columns"]) == (1, [1], 4)
    assert found["states"].tolist() == [OK] * 3 + [NAN]
    for metric in ("change", "largest"):
        whole = parsed(world.get("tile", **ADAM, columns=4, metric=metric).get_data())
        part = parsed(world.get("tile", **ADAM, columns=4, metric=metric, variables="1,0").get_data())
        np.testing.assert_array_equal(part["values"].reshape(2, 4), whole["values"].reshape(2, 4)[::-1])
    assert world.get("tile", **ADAM, variables="0-2").status_code == 404


def test_the_header_of_a_tile_is_padded_for_every_length(world) -> None:
    for metric in ("norm_max", "norm_mean", "largest", "change", "update_ratio"):
        for last in (9, 39, 100, 1000, 10**6):
            assert parsed(world.get("tile", **ADAM, metric=metric, last=last).get_data())["last_step"] == last


def test_an_empty_range_has_no_matrix_bytes(world) -> None:
    found = parsed(world.get("tile", **ADAM, first=100, last=200).get_data())
    assert (found["rows"], found["columns"], len(found["values"])) == (2, 0, 0)


def test_the_range_defaults_to_the_whole_run_over_all_groups(world) -> None:
    writer = world.begin(names=["x"], group="sgd", generation=5)
    writer.records(steps(60, [[OK]] * 5), "sgd", 5)
    found = parsed(world.get("tile", **ADAM).get_data())
    assert (found["first_step"], found["last_step"]) == (0, 64)


def test_smallest_and_change_are_asked_for_by_name() -> None:
    world = World()
    world.begin(names=["a"]).records(steps(0, [[OK]] * 9, np.r_[1, 1, 1, 1, 1, 1, 4, 1, 1][:, None]), "adam", 1_000)
    assert parsed(world.get("tile", **ADAM, columns=3).get_data())["values"].tolist() == [1, 1, 4]
    assert parsed(world.get("tile", **ADAM, columns=3, keep="smallest").get_data())["values"].tolist() == [1, 1, 1]
    assert parsed(world.get("tile", **ADAM, columns=9, metric="change").get_data())["values"].tolist() == [1] * 6 + [
        4,
        1,
        1,
    ]


def test_lines_variable_and_rank_answer_with_the_revision(world) -> None:
    revision = world.json("run", run="a/gradhealth")["revision"]
    lines = world.json("lines", **ADAM, variables="1,0", columns=2)
    assert [line["index"] for line in lines["lines"]] == [1, 0]
    assert lines["lines"][0]["state"] == [OK, NAN]
    variable = world.json("variable", **ADAM, variable=1)
    assert (variable["name"], variable["totals"]["nan"]) == (NAMES[1], 10)
    rank = world.json("rank", **ADAM, first=30, last=35)
    assert rank["variables"][0]["index"] == 1
    assert rank["variables"][0]["why"] == "NaN at 6 of 6 steps; elsewhere at 4 of 34"
    assert lines["revision"] == variable["revision"] == rank["revision"] == revision


def test_the_report_is_markdown_that_names_the_ill_variable(world) -> None:
    answer = world.get("report", run="a/gradhealth")
    assert answer.content_type == "text/markdown; charset=utf-8"
    assert "ü" in answer.get_data(as_text=True)
    assert "nan" in answer.get_data(as_text=True)


def test_the_table_is_csv(world) -> None:
    answer = world.get("table", **ADAM, columns=1)
    assert answer.content_type == "text/csv; charset=utf-8"
    assert answer.get_data(as_text=True).splitlines() == [
        "variable,first_step,last_step,state,value", "enc/k<script>,0,39,ok,0.5", '"dec/""ü""",0,39,nan,0.5',
    ]  # fmt: skip


def test_a_begun_training_has_no_verdict_yet() -> None:
    world = World()
    world.begin()
    found = world.json("run", run="a/gradhealth")
    assert (found["verdict"], found["first_step"], found["steps"], found["incidents"]) == (None, None, 0, [])
    assert len(found["groups"][0]["variables"]) == 2
    assert parsed(world.get("tile", **ADAM).get_data())["columns"] == 0
    assert world.json("rank", **ADAM)["variables"][0]["why"] == "no norm inside"
    for route in ("lines", "variable"):
        world.json(route, **ADAM, variables="0", variable="0")
    assert world.get("table", **ADAM).get_data(as_text=True) == "variable,first_step,last_step,state,value\n"


def test_a_newer_format_is_told_and_nothing_else() -> None:
    world = World()
    writer = world.begin(format_version=9)
    writer.records(steps(0, [[OK, OK]]), "adam", 1_000)
    found = world.json("run", run="a/gradhealth")
    assert (found["newer_format"], found["verdict"], found["groups"]) == (9, None, [])
    assert "pip install -U tb_gradhealth" in found["sentence"]
    assert world.get("tile", **ADAM).status_code == 404


def test_sampling_is_told_with_the_flag() -> None:
    world = World()
    world.plugin = plugin(world.provider)
    context_plugin = type(world.plugin)(
        type("Context", (), {"data_provider": world.provider, "sampling_hints": {"gradhealth": 50}})()
    )
    client = Client(TensorBoardWSGI([context_plugin], data_provider=world.provider))
    world.begin(names=["a"]).records(random_steps(0, 600, 1), "adam", 1_000)
    for data in world.provider.stored["a/gradhealth"].values():
        del data[:-50]
    found = json.loads(client.get(BASE + "run", query_string={"run": "a/gradhealth"}).get_data())
    assert found["sampling"] == {"shown": 100, "stored": 512 + 50, "flag": "--samples_per_plugin=gradhealth=50"}


def test_numbers_that_json_does_not_have_are_null_everywhere() -> None:
    world = World()
    windows = steps(0, [[OK, NAN], [OK, INF], [OK, NONE]], np.float32(np.inf))
    windows.loss[:] = [np.nan, np.inf, -np.inf]
    windows.global_norm[:] = np.inf
    world.begin().records(windows, "adam", 1_000)
    world.json("run", run="a/gradhealth")
    world.json("lines", **ADAM, variables="0,1")
    world.json("variable", **ADAM, variable=0)
    world.json("rank", **ADAM, first=1, last=1)


@pytest.mark.parametrize("value", ["", "64", "no", "-1", "9999999999", "٣"])
def test_the_limit_of_memory_is_taken_from_the_environment(monkeypatch, value) -> None:
    from tb_gradhealth.serve.plugin import _limit

    monkeypatch.setenv("TB_GRADHEALTH_CACHE_MB", value)
    assert _limit() == (64 << 20 if value == "64" else 1 << 30)


def test_every_route_is_described() -> None:
    from pathlib import Path

    import tb_gradhealth.serve

    text = (Path(tb_gradhealth.serve.__file__).parent / "http_api.md").read_text()
    described = set(re.findall(r"`GET ([a-z._/…]+)", text))
    served = {route.lstrip("/").replace("*", "…") for route in World().plugin.get_plugin_apps()}
    assert served == described
