"""Manners over HTTP: errors as sentences, headers, the page, the tab, a path prefix."""

import json
from typing import Any

import pytest
from tensorboard.backend.application import TensorBoardWSGI
from test_plugin import ADAM, BASE, World, world
from werkzeug.test import Client

__all__ = ["world"]  # the fixture


@pytest.mark.parametrize(
    ("route", "query", "sentence"),
    [
        ("run", {}, "run is missing"),
        ("tile", {"run": "a/gradhealth"}, "group is missing"),
        ("tile", {**ADAM, "columns": "5000"}, "columns must be whole numbers from 1 to 4096. Received: '5000'."),
        ("tile", {**ADAM, "first": "9", "last": "3"}, "last must not be below first"),
        ("tile", {**ADAM, "metric": "x"}, "metric must be one of norm_max,"),
        ("lines", ADAM, "variables must be 1 to 32 indices"),
        ("variable", ADAM, "variable is missing"),
    ],
)
def test_a_wrong_argument_is_400_and_a_sentence(world, route, query, sentence) -> None:
    answer = world.get(route, **query)
    assert answer.status_code == 400
    assert answer.content_type.startswith("text/plain")
    assert sentence in answer.get_data(as_text=True)


@pytest.mark.parametrize(
    ("route", "query", "sentence"),
    [
        ("run", {"run": "nowhere"}, "There is no run 'nowhere' with gradient health records."),
        ("run", {"run": "../../../etc/passwd"}, "There is no run"),
        ("run", {"run": "train"}, "There is no run 'train'"),
        ("tile", {"run": "a/gradhealth", "group": "sgd"}, "has no group 'sgd'. There are: adam."),
        ("tile", {**ADAM, "replica": 1}, "There is no replica 1: the group has 1."),
        ("variable", {**ADAM, "variable": 2}, "There is no variable 2: the group has 2."),
        ("lines", {**ADAM, "variables": "0,2"}, "There is no variable 2: the group has 2."),
        ("assets/none.js", {}, "There is no such file."),
    ],
)
def test_what_is_not_there_is_404_and_a_sentence(world, route, query, sentence) -> None:
    world.provider.stored["train"] = {}
    answer = world.get(route, **query)
    assert answer.status_code == 404
    assert answer.content_type.startswith("text/plain")
    assert sentence in answer.get_data(as_text=True)


def test_a_data_server_that_is_gone_is_503_and_comes_back(world) -> None:
    world.provider.failures = [ConnectionError("gone")]
    answer = world.get("runs")
    assert answer.status_code == 503
    assert "restart TensorBoard" in answer.get_data(as_text=True)
    assert world.get("runs").status_code == 200


@pytest.mark.parametrize("route", ["runs", "index.js", "tile"])
def test_only_reading_is_answered(world, route) -> None:
    answer = world.client.post(BASE + route, query_string=ADAM)
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "GET, HEAD"
    head = world.client.head(BASE + route, query_string=ADAM)
    assert head.status_code == 200
    assert head.get_data() == b""


def test_no_answer_upsets_tensorboards_security_validator(world, caplog) -> None:
    for route in ("runs", "run", "tile", "lines", "variable", "rank", "report", "table", "index.js", "index.css", "no"):
        for query in ({}, {**ADAM, "variables": "0", "variable": "0"}):
            answer = world.get(route, **query)
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert "html" not in answer.content_type
    assert "will become an error" not in caplog.text


def test_the_page_is_compressed_for_who_can_read_it(world) -> None:
    plain = world.client.get(BASE + "index.js")
    packed = world.client.get(BASE + "index.js", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert plain.content_type.startswith("text/javascript")
    assert len(packed.get_data()) < len(plain.get_data())
    assert b"render" in plain.get_data()


def test_the_tab_is_named_and_listed_as_soon_as_a_run_has_data() -> None:
    world = World()

    def listing() -> Any:
        return json.loads(world.client.get("/data/plugins_listing").get_data())["gradhealth"]

    assert listing()["enabled"] is False
    assert world.plugin.is_active() is False
    world.begin()
    assert listing()["enabled"] is True
    assert world.plugin.is_active() is True
    assert listing()["tab_name"] == "Grad Health"
    assert listing()["loading_mechanism"] == {"type": "IFRAME", "module_path": "/data/plugin/gradhealth/index.js"}


def test_the_entry_page_imports_the_module(world) -> None:
    page = world.client.get("/data/plugin_entry.html", query_string={"name": "gradhealth"}).get_data(as_text=True)
    assert '<base href="plugin/gradhealth/" />' in page
    assert 'import("./index.js").then((m) => void m.render());' in page


def test_a_path_prefix_changes_nothing_but_the_addresses(world) -> None:
    app = TensorBoardWSGI([world.plugin], "/tb/x", data_provider=world.provider)
    client = Client(app)
    assert client.get("/tb/x" + BASE + "runs").status_code == 200
    assert client.get("/tb/x" + BASE + "index.js").status_code == 200
    assert client.get(BASE + "runs").status_code == 404
