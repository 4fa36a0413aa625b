"""Every state of the world: each says what it is, and what next."""

import functools
import http.server
import shutil
import threading
from pathlib import Path

import browser_logs
import numpy as np
import pytest
from browser_boards import loaders
from playwright.sync_api import expect
from tab import FRAME, Tab, near

both = pytest.mark.parametrize("loader", loaders())


def test_no_run_at_all(page, start, tmp_path):
    tab = Tab(page, start(tmp_path, runs=0)).open()
    expect(tab.verdict).to_have_text("No runs yet")
    expect(tab.frame.locator("pre")).to_contain_text("GradHealthCallback")
    tab.shot("no_runs")


def test_runs_without_our_data_get_the_lines_of_code(page, start, tmp_path):
    browser_logs.plain(tmp_path / "plain")
    tab = Tab(page, start(tmp_path)).open()
    expect(tab.verdict).to_have_text("No gradient health records yet")
    expect(tab.frame.locator("pre")).to_contain_text("callbacks=[tb_gradhealth.GradHealthCallback(")
    expect(tab.frame.get_by_text("1 run found, none with gradient health records")).to_be_visible()
    tab.shot("no_records")


def test_a_training_that_has_just_begun(page, each_board):
    tab = Tab(page, each_board).open(run="begun/gradhealth")
    expect(tab.verdict).to_have_text("No step has been recorded yet.")
    expect(tab.frame.get_by_text("The training has begun: 2 variables will be watched.")).to_be_visible()
    tab.shot("just_begun")


def test_a_training_whose_first_step_raised_says_why(page, each_board):
    tab = Tab(page, each_board).open(run="raised/gradhealth")
    expect(tab.verdict).to_contain_text("Unhealthy: ")
    expect(tab.verdict).to_contain_text("LookupError")
    expect(tab.frame.locator(".incidents tbody tr")).to_contain_text("error")
    expect(tab.frame.locator("article.cause")).to_contain_text("train.py:17")
    expect(tab.frame.locator("main")).not_to_contain_text("has begun")
    tab.shot("raised")
    tab.frame.locator(".incident-go").click()
    tab.press("n", "t", "ArrowRight", "+", "Enter")
    expect(tab.verdict).to_contain_text("LookupError")


def test_one_variable(page, each_board):
    tab = Tab(page, each_board).run("one")
    assert tab.names() == ["w"]
    tab.shot("one_variable")


def test_a_newer_format_says_what_to_update(page, each_board):
    tab = Tab(page, each_board).open(run="newer/gradhealth")
    expect(tab.verdict).to_contain_text("format 99")
    expect(tab.verdict).to_contain_text("pip install -U tb_gradhealth")
    expect(tab.frame.locator("main")).not_to_contain_text("has begun")
    tab.shot("newer_format")


def test_a_damaged_file_shows_what_came_before_the_damage(page, each_board):
    tab = Tab(page, each_board).run("damaged")
    last = int(tab.frame.locator(".axis-label").inner_text().split("–")[1])
    assert 0 < last < 39
    tab.shot("damaged")


@pytest.mark.parametrize("loader", [loader for loader in loaders() if loader != "python"])
def test_a_damaged_norm_is_left_out_and_told(page, boards, loader):
    tab = Tab(page, boards(loader)).run("damaged")
    expect(tab.frame.locator(".notes")).to_contain_text("its checksum is not that of its content")
    tab.shot("damaged_norm")


def test_a_run_that_is_not_there_offers_another(page, board):
    tab = Tab(page, board).open(run="deleted/gradhealth")
    expect(tab.verdict).to_contain_text("The run deleted is not there")
    tab.shot("run_not_there")
    tab.button("Show another run").click()
    expect(tab.verdict).to_contain_text("healthy", ignore_case=True)


@both
def test_records_sampled_away_by_the_users_flag_are_counted(page, start, tmp_path, loader):
    browser_logs.seq2seq(tmp_path / "run").close()
    tab = Tab(page, start(tmp_path, loader, ("--samples_per_plugin", "gradhealth=50"))).run("run")
    note = tab.frame.locator(".notes")
    expect(note).to_contain_text("of 600 records")
    expect(note).to_contain_text("started with --samples_per_plugin=gradhealth=50")
    expect(note).to_contain_text("Start it with --samples_per_plugin=gradhealth=0 to see all")
    tab.shot("sampled_away")


@both
def test_reload_picks_up_the_new_steps_of_a_running_training(page, start, tmp_path, loader):
    run = browser_logs.healthy(tmp_path / "run", 100)
    tab = Tab(page, start(tmp_path, loader)).run("run")
    expect(tab.frame.locator(".axis-label")).to_have_text("step 0–99")
    states = np.full((50, 18), browser_logs.OK)
    states[40:, 4] = browser_logs.NAN
    run.add(browser_logs.windows_of(100, states, np.full((50, 18), 0.1)))
    tab.button("Live").click()  # off: only TensorBoard's own reload
    reload = page.get_by_role("button", name="Last Updated")
    for _ in range(20):
        reload.click()
        page.wait_for_timeout(700)
        if tab.frame.locator(".axis-label").inner_text() == "step 0–149":
            break
    expect(tab.frame.locator(".axis-label")).to_have_text("step 0–149")
    expect(tab.verdict).to_contain_text("NaN in the gradient of block1/attention/bias")
    expect(tab.row("block1/attention/bias")).to_contain_text("since step 140")
    assert near(tab.colour("block1/attention/bias", 0.98), "#d50000")
    run.close()


def test_a_live_page_follows_by_itself_and_a_page_that_is_not_live_does_not(page, new_page, start, tmp_path):
    run = browser_logs.healthy(tmp_path / "run", 50)
    board = start(tmp_path)
    live, still = Tab(page, board).run("run"), Tab(new_page(), board).run("run")
    still.button("Live").click()
    run.add(browser_logs.windows_of(50, np.full((10, 18), browser_logs.OK), np.full((10, 18), 0.1)))
    expect(live.frame.locator(".axis-label")).to_have_text("step 0–59", timeout=30_000)
    expect(still.frame.locator(".axis-label")).to_have_text("step 0–49")
    run.close()


def test_records_appear_in_an_open_tab_that_had_none(page, start, tmp_path):
    browser_logs.plain(tmp_path / "plain")
    tab = Tab(page, start(tmp_path)).open()
    expect(tab.verdict).to_have_text("No gradient health records yet")
    browser_logs.vae(tmp_path / "late").close()
    expect(tab.verdict).to_contain_text("No gradient (None)", timeout=40_000)


def test_a_server_that_goes_away_and_comes_back(page, start, tmp_path):
    browser_logs.vae(tmp_path / "run").close()
    board = start(tmp_path)
    tab = Tab(page, board).run("run")
    board.stop()
    note = tab.frame.get_by_role("alert")
    expect(note).to_contain_text("TensorBoard does not answer", timeout=30_000)
    expect(note).to_contain_text("What you see was fetched at")
    expect(tab.verdict).to_contain_text("No gradient (None)")
    tab.shot("server_gone")
    start(tmp_path, port=board.port)
    expect(note).to_have_count(0, timeout=30_000)
    expect(tab.verdict).to_contain_text("No gradient (None)")


@both
def test_a_run_that_is_deleted_while_it_is_shown(page, start, tmp_path, loader):
    browser_logs.vae(tmp_path / "doomed").close()
    browser_logs.one(tmp_path / "other").close()
    tab = Tab(page, start(tmp_path, loader, runs=2)).run("doomed")
    shutil.rmtree(tmp_path / "doomed")
    expect(tab.verdict).to_contain_text("The run doomed is not there", timeout=40_000)
    tab.shot("run_deleted")
    tab.button("Show another run").click()
    expect(tab.verdict).to_contain_text("Healthy")


def test_a_run_whose_files_alone_are_deleted_stays_and_the_help_says_why(page, start, tmp_path):
    run = browser_logs.vae(tmp_path / "doomed")
    run.close()
    tab = Tab(page, start(tmp_path, "python")).run("doomed")
    run.path.unlink()
    page.wait_for_timeout(12_000)  # the page has asked again, and TensorBoard has looked again
    expect(tab.verdict).to_contain_text("No gradient (None)")
    tab.press("?")
    expect(tab.frame.get_by_role("dialog")).to_contain_text("Delete a run's folder and it goes from this page")


@both
def test_below_a_path_prefix(page, start, tmp_path, loader):
    browser_logs.vae(tmp_path / "run").close()
    board = start(tmp_path, loader, ("--path_prefix", "/some/where"), prefix="/some/where")
    tab = Tab(page, board).run("run")
    expect(tab.verdict).to_contain_text("No gradient (None)")
    tab.shot("path_prefix")


def test_log_directories_with_names_of_their_own(page, start, tmp_path):
    browser_logs.vae(tmp_path / "a" / "run").close()
    browser_logs.one(tmp_path / "b").close()
    where = f"first:{tmp_path / 'a'},second:{tmp_path / 'b'}"
    board = start(None, "python", ("--logdir_spec", where), runs=2)
    tab = Tab(page, board).run("first/run")
    expect(tab.verdict).to_contain_text("No gradient (None)")
    tab.frame.locator(".top-bar .menu button").first.click()
    expect(tab.frame.locator(".run-table")).to_contain_text("second")
    tab.shot("logdir_spec")


def test_inside_the_frame_of_a_notebook(page, board, notebook):
    page.goto(notebook(f"{board.url}/#gradhealth&p.gradhealth.run=vae%2Fgradhealth"))
    inner = page.frame_locator("iframe").frame_locator(FRAME)
    expect(inner.locator("h1")).to_contain_text("No gradient (None)", timeout=30_000)
    expect(inner.locator(".heat-canvas")).to_be_visible()
    page.screenshot(path=_artifact("notebook.png"))


@pytest.fixture
def notebook(tmp_path):
    """Serves a page of another origin with a frame in it, as a notebook does; returns a function to its address."""
    handler = functools.partial(QuietHandler, directory=tmp_path)
    server = http.server.ThreadingHTTPServer(("localhost", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    def address(framed: str) -> str:
        (tmp_path / "n.html").write_text(f'<h1>Notebook</h1><iframe src="{framed}" width="1000" height="700"></iframe>')
        return f"http://localhost:{server.server_port}/n.html"

    yield address
    server.shutdown()
    server.server_close()
    thread.join()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def test_without_tensorboard_around_it(page, board):
    page.goto(f"{board.url}/data/plugin_entry.html?name=gradhealth#gradhealth&p.gradhealth.run=vae%2Fgradhealth")
    expect(page.locator("h1")).to_contain_text("No gradient (None)")


def _artifact(name: str) -> Path:
    from tab import ARTIFACTS

    ARTIFACTS.mkdir(parents=True, exist_ok=True)
    return ARTIFACTS / name
