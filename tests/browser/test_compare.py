"""Several runs: choosing one, laying them side by side, one against another."""

from playwright.sync_api import expect
from tab import Tab


def test_the_list_of_runs_shows_every_verdict_and_opens_a_run(page, each_board):
    tab = Tab(page, each_board).run("one")
    tab.frame.locator(".top-bar .menu button").first.click()
    table = tab.frame.locator(".run-table")
    for run, words in (
        ("vae", "Unhealthy: No gradient (None) reached 3 of 7 variables"),
        ("replicas", "Watch: NaN in the gradient of dense/bias"),
        ("seq2seq_mended", "Healthy"),
        ("begun", "No step has been recorded yet"),
        ("newer", "written in the newer format 99"),
    ):
        expect(table.get_by_role("row", name=run).first).to_contain_text(words, timeout=30_000)
    expect(tab.frame.get_by_text("1 more run without gradient health records.")).to_be_visible()
    tab.shot("runs")
    tab.frame.get_by_label("Filter runs").fill("VAE")
    expect(table.locator("tbody tr")).to_have_count(1)
    table.get_by_role("button", name="vae").click()
    expect(tab.verdict).to_contain_text("No gradient (None)")
    assert tab.hash["run"] == "vae/gradhealth"


def test_runs_lie_side_by_side_with_the_same_rows_and_steps(page, each_board):
    tab = Tab(page, each_board).run("seq2seq")
    tab.frame.locator(".top-bar .menu button").first.click()
    tab.frame.get_by_label("Lay seq2seq_mended beside").check()
    page.keyboard.press("Escape")
    expect(tab.frame.locator(".heat-canvas")).to_have_count(2)
    page.wait_for_timeout(800)
    assert tab.colour("encoder/gru/kernel", 0.9, plot=0) == (213, 0, 0)
    red, _, blue = tab.colour("encoder/gru/kernel", 0.9, plot=1)
    assert blue > red + 40
    tab.shot("side_by_side")


def test_one_run_against_another_names_what_differs_and_draws_the_ratio(page, board):
    tab = Tab(page, board).run("seq2seq", beside=["seq2seq_mended/gradhealth"])
    panel = tab.frame.locator(".compare")
    expect(panel).to_contain_text("seq2seq_mended against seq2seq")
    names = [name.get_attribute("title") for name in panel.locator("tbody th button").all()]
    assert set(names[:3]) == {"encoder/gru/kernel", "encoder/gru/recurrent_kernel", "encoder/gru/bias"}
    expect(panel.locator("tr", has=tab.frame.get_by_title("decoder/gru/kernel"))).to_contain_text("× 1")
    before = tab.colour("decoder/gru", 0.5, plot=1)
    panel.get_by_role("button", name="Relative").click()
    expect(tab.frame.locator(".run-head").last).to_contain_text("relative to seq2seq")
    assert tab.colour("decoder/gru", 0.5, plot=1) != before
    halves = {tab.colour("decoder/gru", share, plot=1) for share in (0.1, 0.3, 0.5, 0.7)}
    assert len(halves) == 1, "equal runs have the ratio 1 everywhere"
    tab.shot("relative")


def test_runs_with_other_variables_pair_what_they_share(page, board):
    tab = Tab(page, board).run("seq2seq", beside=["vae/gradhealth"])
    expect(tab.frame.locator(".compare")).to_contain_text("variables not in vae")
