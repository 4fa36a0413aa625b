"""The first screen: the verdict, the ill variables and since when, the five states, light and dark."""

import pytest
from playwright.sync_api import expect
from tab import Tab, near

NAN, INF, NONE, ZERO = "#d50000", "#ff9100", "#8d8d8d", "#000000"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_says_whether_the_run_is_healthy_and_what_was_checked(page, each_board, dark):
    tab = Tab(page, each_board).run("seq2seq", dark=dark)
    expect(tab.verdict).to_contain_text("Unhealthy: NaN in the gradient of 3 of 9 variables")
    expect(tab.verdict).to_contain_text("since step 480")
    tab.frame.get_by_text("What was checked").click()
    expect(tab.frame.locator(".checked li").first).to_contain_text("9 variables at 600 steps")
    expect(tab.frame.locator("html")).to_have_attribute("data-theme", "dark" if dark else "light")
    tab.frame.get_by_text("What was checked").click()
    tab.shot(f"first_screen_{'dark' if dark else 'light'}")


def test_names_the_ill_variables_and_since_which_step_worst_first(page, each_board):
    tab = Tab(page, each_board).run("seq2seq")
    assert tab.names()[0] == "encoder/gru"
    for name in ("encoder/gru/kernel", "encoder/gru/recurrent_kernel", "encoder/gru/bias"):
        expect(tab.row(name)).to_contain_text("since step 480")
        expect(tab.row(name)).to_contain_text("NaN")
    expect(tab.row("decoder/gru")).to_have_attribute("aria-expanded", "false")
    assert "decoder/gru/kernel" not in tab.names()


def test_paints_every_state_in_its_own_colour(page, each_board):
    tab = Tab(page, each_board).run("seq2seq")
    assert near(tab.colour("encoder/gru/kernel", 0.9), NAN)
    assert near(tab.colour("encoder/gru/kernel", 333.5 / 600), NAN), "one step of NaN among 600 must be seen"
    before_nan = [tab.colour("encoder/gru/recurrent_kernel", step / 600) for step in (477.5, 478, 478.5, 479, 479.5)]
    assert any(near(colour, INF) for colour in before_nan), "Inf at step 479, NaN from 480 on"
    assert near(tab.colour("decoder/dense", 130 / 600), ZERO)
    red, _, blue = tab.colour("decoder/dense", 0.5)
    assert blue > red + 40, "a finite norm is blue"
    tab.run("vae")
    colours = {tab.colour("decoder/gru/kernel", share) for share in (0.5, 0.505, 0.51, 0.515, 0.52, 0.525)}
    assert any(near(c, NONE) for c in colours)
    assert any(near(c, "#f1f1f1") for c in colours), "None is hatched"


def test_incidents_are_marked_in_a_lane_of_their_own(page, each_board):
    tab = Tab(page, each_board).run("seq2seq")
    lane = tab.frame.locator(".lane").bounding_box()
    mark = tab.frame.get_by_role("button", name="NaN, step 333").bounding_box()
    assert lane and mark
    assert abs(mark["x"] - (lane["x"] + lane["width"] * 333 / 600)) < 2


def test_a_single_bad_step_among_400_variables_is_marked_and_painted(page, each_board):
    tab = Tab(page, each_board).run("many")
    expect(tab.frame.get_by_role("button", name="NaN, step 777")).to_be_visible()
    tab.frame.get_by_label("Filter variables by name").fill("block50/")
    assert near(tab.colour("transformer/block50/k/kernel", 777.5 / 1500), NAN)
    tab.shot("many_filtered")


def test_draws_curves_of_the_ill_variables_and_one_that_is_well(page, board):
    tab = Tab(page, board).run("seq2seq")
    items = tab.frame.locator(".legend-list li[title]")
    assert [item.get_attribute("title") for item in items.all()] == [
        "encoder/gru/kernel",
        "encoder/gru/recurrent_kernel",
        "encoder/gru/bias",
        "decoder/gru/kernel",
    ]
    drawn = tab.frame.locator(".chart canvas").first.evaluate(
        """canvas => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const seen = new Set();
          for (let i = 0; i < data.length; i += 4) seen.add(data.slice(i, i + 3).join());
          return [...seen];
        }"""
    )
    for colour in ("28,109,208", "11,127,107", "138,63,184", "160,100,26"):
        assert colour in drawn


def test_says_why_on_which_line_and_what_to_try(page, each_board):
    tab = Tab(page, each_board).run("seq2seq")
    card = tab.frame.locator("article.cause")
    for words in (
        "The derivative of sqrt at 0 is infinite",
        "train.py:41",
        "loss = tf.sqrt(",
        "Sqrt, backward pass",
        "Add a small epsilon",
        "3 of 64 inputs of the root were exactly 0.",
        "certain",
    ):
        expect(card).to_contain_text(words)
    card.get_by_role("button", name="NaN at step 333").click()
    expect(tab.frame.locator(".tick-cursor").first).to_have_text("333")
    assert tab.hash["steps"]


def test_lists_incidents_with_their_steps_and_counts(page, each_board):
    tab = Tab(page, each_board).run("seq2seq")
    rows = [" ".join(row.inner_text().split()) for row in tab.frame.locator(".incidents tbody tr").all()]
    assert any(row.startswith("NaN 333 1 3 NaN in the gradient of 3 of 9 variables") for row in rows)
    assert any(row.startswith("NaN ongoing 480–599 120 3") for row in rows)
    assert any(row.startswith("zero 100–139 40 1") for row in rows)
    tab.button("Steps").click()
    first = tab.frame.locator(".incidents tbody tr").first
    expect(first).to_contain_text("zero")
    tab.button("Steps").click()
    expect(first).to_contain_text("480–599")


def test_a_healthy_run_says_what_was_checked_and_folds_to_a_line_per_layer(page, each_board):
    tab = Tab(page, each_board).run("healthy")
    expect(tab.verdict).to_contain_text("Healthy")
    tab.frame.get_by_text("What was checked").click()
    expect(tab.frame.locator(".checked li").first).to_contain_text("NaN, Inf, None")
    assert {tab.row(name).get_attribute("aria-expanded") for name in tab.names() if name.endswith("attention")} == {
        "false"
    }
    expect(tab.frame.locator(".incidents")).to_have_count(0)
    tab.shot("healthy")


def test_two_optimizers_are_two_groups_the_worse_first(page, each_board):
    tab = Tab(page, each_board).run("gan")
    groups = [row.get_attribute("title") for row in tab.frame.locator(".row-group [role=rowheader]").all()]
    assert groups == ["generator", "discriminator"]
    tab.shot("two_groups")
