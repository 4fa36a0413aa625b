"""Real TensorBoards with each loader: the same answers, bit for bit, and those that the files give."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from board_logs import ODD, RUNS, write_logs
from boards import Board, has_data_server, tensorboard
from serve_world import NAN, OK, random_steps, record_sink, schema, steps, ticking
from test_plugin import parsed

from tb_gradhealth.format.log_writer import LogWriter
from tb_gradhealth.format.reader import find_runs, read_run
from tb_gradhealth.health import assess

loaders = pytest.mark.parametrize(
    "loader",
    [
        pytest.param("rust", marks=pytest.mark.skipif(not has_data_server(), reason="no data server for this machine")),
        "python",
    ],
)


@pytest.fixture(scope="session")
def logdir(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("logs")
    write_logs(path)
    return path


@pytest.fixture(scope="session")
def boards(logdir):
    """One TensorBoard for each loader, started when first asked for."""
    started: dict[str, tuple[Board, object]] = {}

    def get(loader: str) -> Board:
        if loader not in started:
            context = tensorboard(loader, f"--logdir={logdir}")
            board = context.__enter__()
            started[loader] = board, context
            board.wait_for(loaded, "all runs")
        return started[loader][0]

    yield get
    for _, context in started.values():
        context.__exit__(None, None, None)


def loaded(board: Board) -> bool:
    listed = {r["run"]: r["last_step"] for r in board.json("runs")["runs"] if r["has_data"]}
    return set(listed) == set(RUNS) and all(listed[r] == s for r, s in RUNS.items() if "broken" not in r)


def _last_steps(board: Board) -> list[int | None]:
    return [r["last_step"] for r in board.json("runs")["runs"]]


def routes(run: str, groups: list[dict]) -> list[tuple[str, dict]]:
    """Requests that together ask for everything of a run."""
    asked: list[tuple[str, dict]] = [("run", {"run": run}), ("report", {"run": run})]
    for group in groups:
        adam = {"run": run, "group": group["name"]}
        names = ",".join(str(v["index"]) for v in group["variables"])
        for metric in ("norm_max", "norm_min", "largest", "change"):
            for columns in (7, 1024):
                asked.append(("tile", {**adam, "metric": metric, "columns": columns}))
        asked.append(("tile", {**adam, "first": 100, "last": 333, "columns": 50, "keep": "smallest"}))
        asked.append(("lines", {**adam, "variables": names, "columns": 33}))
        asked.append(("rank", {**adam, "first": 100, "last": 120}))
        asked.append(("table", {**adam, "columns": 20}))
        asked += [("variable", {**adam, "variable": v["index"]}) for v in group["variables"]]
    return asked


@pytest.mark.skipif(not has_data_server(), reason="no data server for this machine")
@pytest.mark.parametrize("run", [run for run in RUNS if "broken" not in run])
def test_both_loaders_give_the_same_answers_bit_for_bit(boards, run) -> None:
    rust, python = boards("rust"), boards("python")
    groups = rust.json("run", run=run)["groups"]
    for route, query in routes(run, groups):
        assert rust.get(route, **query) == python.get(route, **query), (route, query)


@loaders
@pytest.mark.parametrize("run", [run for run in RUNS if "broken" not in run])
def test_the_answers_are_those_that_the_files_give(boards, logdir, loader, run) -> None:
    log = read_run(str(logdir / run))
    health, found = assess(log), boards(loader).json("run", run=run)
    for name in ("verdict", "sentence", "first_step", "last_step", "steps", "newer_format"):
        assert found[name] == getattr(health, name), name
    assert [g["name"] for g in found["groups"]] == list(log.groups)
    listed = [(g["name"], v["name"], v["state"], v["since"]) for g in found["groups"] for v in g["variables"]]
    assert listed == [(v.group, v.name, v.state, v.since) for v in health.variables]
    assert [(i["kind"], i["first_step"], i["last_step"], i["steps"]) for i in found["incidents"]] == [
        (i.kind, i.first_step, i.last_step, i.steps) for i in health.incidents
    ]
    assert [c["id"] for c in found["causes"]] == [c.id for c in health.causes]
    for name, group in log.groups.items():
        matrix = parsed(boards(loader).get("tile", run=run, group=name, columns=4096)[1])
        windows, variables = group.windows, len(group.schema.variables)
        shape = (len(windows), max(group.schema.replicas, 1), variables)
        assert matrix["first"].tolist() == windows.first_step.tolist()
        assert matrix["last"].tolist() == windows.last_step.tolist()
        values = np.fmax.reduce(windows.norm_max.reshape(shape), axis=1).T
        np.testing.assert_array_equal(matrix["values"].reshape(variables, -1), values)
        states = windows.worst_state().reshape(shape).max(axis=1).T
        np.testing.assert_array_equal(matrix["states"].reshape(variables, -1), states)


@loaders
def test_every_run_is_listed_with_what_is_known_of_it(boards, logdir, loader) -> None:
    listed = {r["run"]: r for r in boards(loader).json("runs")["runs"]}
    assert set(listed) == {*RUNS, "train"}
    assert listed["train"]["has_data"] is False
    assert listed["newer/gradhealth"]["newer_format"] is None or listed["newer/gradhealth"]["newer_format"] == 2
    assert set(find_runs(str(logdir))) == set(RUNS)


@loaders
def test_the_states_of_the_world(boards, loader) -> None:
    board = boards(loader)
    begun = board.json("run", run="begun/gradhealth")
    assert (begun["verdict"], begun["first_step"], len(begun["groups"][0]["variables"])) == (None, None, 2)
    newer = board.json("run", run="newer/gradhealth")
    assert (newer["newer_format"], newer["groups"]) == (2, [])
    assert board.get("run", run="train")[0] == 404
    assert board.get("run", run="../../etc")[0] == 404
    assert board.json("run", run="healthy/gradhealth")["verdict"] == "healthy"
    odd = board.json("run", run=f"{ODD}/gradhealth")["groups"][0]["variables"]
    assert [len(odd[0]["name"]), odd[1]["name"]] == [300, "<i>"]


@loaders
def test_the_ill_run_shows_its_variables_first_steps_and_flight(boards, loader) -> None:
    board = boards(loader)
    run = board.json("run", run="ill/gradhealth")
    assert run["verdict"] == "unhealthy"
    assert [(v["name"], v["state"]) for v in run["groups"][0]["variables"]][:2] == [("a", "ok"), ("b", "none")]
    nan = next(i for i in run["incidents"] if i["kind"] == "nan")
    assert (nan["first_step"], nan["last_step"], nan["variables"]) == (700, 704, [2])
    assert nan["cause"] == run["causes"][0]["id"]
    variable = board.json("variable", run="ill/gradhealth", group="adam", variable=2)
    assert [f["step"] for f in variable["flight"]] == list(range(650, 760))
    assert [f["step"] for f in variable["flight"] if f["state"] == "nan"] == [700, 701, 702, 703, 704]
    assert variable["totals"]["first_bad_step"] == 700
    assert variable["totals"]["nan"] == 5


@loaders
def test_a_resumed_run_and_changed_variables_are_one_history(boards, loader) -> None:
    run = boards(loader).json("run", run="resumed/gradhealth")
    assert [v["name"] for v in run["groups"][0]["variables"]] == ["b", "c", "a"]
    matrix = parsed(boards(loader).get("tile", run="resumed/gradhealth", group="adam", columns=4096)[1])
    assert matrix["first"].tolist() == list(range(400))
    states = matrix["states"].reshape(3, 400)
    assert (states[1, :200] == 0).all() and (states[2, 200:] == 0).all() and (states[0] > 0).all()


@loaders
def test_a_damaged_file_shows_what_came_before_the_damage(boards, loader) -> None:
    run = boards(loader).json("run", run="broken/gradhealth")
    assert (run["first_step"], run["last_step"]) == (0, 20)
    matrix = parsed(boards(loader).get("tile", run="broken/gradhealth", group="adam")[1])
    assert matrix["last"].tolist() == list(range(21))


@loaders
def test_the_tab_is_there_and_its_page_is_served(boards, loader) -> None:
    board = boards(loader)
    listing = json.loads(board.fetch("/data/plugins_listing")[1])["gradhealth"]
    assert (listing["enabled"], listing["tab_name"]) == (True, "Grad Health")
    assert b"import(" in board.fetch("/data/plugin_entry.html?name=gradhealth")[1]
    assert board.get("index.js")[0] == 200
    assert board.get("index.css")[0] == 200


@loaders
def test_a_growing_run_is_followed_until_it_is_deleted(tmp_path, loader) -> None:
    run = tmp_path / "grows" / "gradhealth"
    path = run / "events.out.tfevents.1.host"
    writer = LogWriter(record_sink(path), clock=ticking(time.time()))
    with tensorboard(loader, f"--logdir={tmp_path}") as board:
        assert [r for r in board.json("runs")["runs"] if r["has_data"]] == []
        assert json.loads(board.fetch("/data/plugins_listing")[1])["gradhealth"]["enabled"] is False
        writer.schema(schema(["a", "b"]))
        history = random_steps(0, 1_100, 2, ill=0)
        revisions = set()
        for low, high in ((0, 1), (1, 600), (600, 1_099)):
            writer.records(history.select(slice(low, high)), "adam", 1_000)
            writer.flush()
            at = {"run": "grows/gradhealth", "group": "adam", "columns": 4096}
            board.wait_for(
                lambda b, last=high - 1: last in [r["last_step"] for r in b.json("runs")["runs"]], "the steps"
            )
            matrix = parsed(board.get("tile", **at)[1])
            np.testing.assert_array_equal(matrix["values"].reshape(2, -1), history.norm_max[:high].T)
            revisions.add(matrix["revision"])
            run_now = board.json("run", run="grows/gradhealth")
            assert (run_now["revision"], run_now["last_step"]) == (matrix["revision"], high - 1)
        assert len(revisions) == 3
        writer.records(steps(1_099, [[OK, NAN]]), "adam", 1_000)
        writer.flush()
        board.wait_for(lambda b: b.json("run", run="grows/gradhealth")["last_step"] == 1_099, "the NaN")
        found = board.json("run", run="grows/gradhealth")
        assert (found["verdict"], found["groups"][0]["variables"][1]["since"]) == ("unhealthy", 1_099)
        writer.close()
        os.remove(path)
        run.rmdir()
        if loader == "rust":  # the Python loader keeps what it has read
            board.wait_for(lambda b: b.get("run", run="grows/gradhealth")[0] == 404, "that the run is gone")
        assert board.get("run", run="grows/gradhealth")[0] in (200, 404)
        assert board.get("runs")[0] == 200


@loaders
def test_records_sampled_away_by_the_users_flag_are_told(logdir, loader) -> None:
    with tensorboard(loader, f"--logdir={logdir}", "--samples_per_plugin=gradhealth=50,scalars=7") as board:
        board.wait_for(loaded, "all runs")
        sampling = board.json("run", run="healthy/gradhealth")["sampling"]
        assert sampling["flag"] == "--samples_per_plugin=gradhealth=50"
        assert sampling["shown"] == 100
        assert 650 <= sampling["stored"] <= 700
        assert board.json("run", run="cut/gradhealth")["sampling"] is None
        ill = board.json("run", run="ill/gradhealth")
        nan = [i for i in ill["incidents"] if i["kind"] == "nan"]
        assert [i["first_step"] for i in nan] == [700], "the writer's list of incidents survives any sampling"


def test_a_path_prefix_and_a_logdir_spec_work(logdir) -> None:
    spec = f"one:{logdir / 'healthy'},two:{logdir / 'ill'}"
    with tensorboard("python", f"--logdir_spec={spec}", "--path_prefix=/tb/x") as board:
        assert board.url.endswith("/tb/x")
        board.wait_for(
            lambda b: len([r for r in b.json("runs")["runs"] if r["last_step"] in (699, 1_199)]) == 2, "both"
        )
        assert [r["run"] for r in board.json("runs")["runs"]] == ["one/gradhealth", "two/gradhealth"]
        assert board.json("run", run="one/gradhealth")["verdict"] == "healthy"
        assert board.get("index.js")[0] == 200
        listing = json.loads(board.fetch("/data/plugins_listing")[1])["gradhealth"]
        assert listing["loading_mechanism"]["module_path"] == "/tb/x/data/plugin/gradhealth/index.js"


@pytest.mark.skipif(not has_data_server(), reason="no data server for this machine")
def test_a_data_server_that_died_is_503_and_a_sentence(logdir) -> None:
    with tensorboard("rust", f"--logdir={logdir}") as board:
        board.wait_for(loaded, "all runs")
        (server,) = board.children()
        os.kill(server, signal.SIGKILL)
        _, body = board.wait_for(lambda b: (a := b.get("runs"))[0] == 503 and a, "that it is gone")
        assert b"TensorBoard's data source does not answer" in body
        assert board.get("run", run="ill/gradhealth")[0] == 503
