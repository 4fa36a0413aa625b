"""For people who do not see the page, do not use a mouse, or see it otherwise."""

from pathlib import Path

import pytest
from playwright.sync_api import expect
from tab import FRAME, Tab

AXE = Path(__file__).resolve().parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"


def violations(tab: Tab) -> list[str]:
    """What axe finds wrong inside our frame, one line for each rule."""
    handle = tab.page.query_selector(FRAME)
    assert handle
    frame = handle.content_frame()
    assert frame
    frame.evaluate(AXE.read_text())
    found = frame.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    return [f"{rule['id']}: {[node['html'][:160] for node in rule['nodes'][:4]]}" for rule in found["violations"]]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_wrong_with_everything_open(page, board, dark):
    tab = Tab(page, board).run(
        "seq2seq",
        dark=dark,
        details="v|adam|1",
        pinned="333",
        box="310-340",
        table="1",
        extras=["loss", "learning_rate"],
        beside=["seq2seq_mended/gradhealth"],
    )
    expect(tab.frame.locator(".rank-name").first).to_be_visible()
    assert violations(tab) == []


def test_axe_finds_nothing_wrong_with_menus_and_help(page, board):
    tab = Tab(page, board).run("hostile")
    for button in ("View", "Export"):
        tab.button(button).click()
        assert violations(tab) == []
        page.keyboard.press("Escape")
    tab.frame.locator(".top-bar .menu button").first.click()
    assert violations(tab) == []
    page.keyboard.press("Escape")
    tab.press("?")
    expect(tab.frame.get_by_role("dialog")).to_be_visible()
    assert violations(tab) == []


def test_axe_finds_what_is_wrong(page, board):
    tab = Tab(page, board).run("one")
    tab.frame.locator("body").evaluate("body => body.insertAdjacentHTML('beforeend', '<button></button>')")
    assert any(line.startswith("button-name") for line in violations(tab))


def test_the_rows_are_a_treegrid_that_says_in_words_what_is_painted(page, board):
    tab = Tab(page, board).run("seq2seq")
    grid = tab.frame.get_by_role("treegrid")
    expect(grid).to_have_attribute("aria-rowcount", "8")
    row = tab.row("encoder/gru/kernel")
    expect(row).to_have_attribute("aria-level", "2")
    expect(row).to_have_attribute("aria-posinset", "1")
    expect(row).to_have_attribute("aria-setsize", "3")
    cells = [cell.inner_text().strip() for cell in row.locator("[role=gridcell]").all()]
    assert cells == ["NaN", "since step 480", "step 599: NaN, Gradient norm, largest –"]
    expect(tab.frame.locator(".heat-canvas").first).to_have_attribute("aria-hidden", "true")


def test_the_treegrid_names_its_active_row_and_the_cursor_is_announced(page, board):
    tab = Tab(page, board).run("seq2seq")
    tab.frame.get_by_role("treegrid").focus()
    for key in ("ArrowDown", "ArrowDown", "n", "n", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    active = tab.frame.get_by_role("treegrid").get_attribute("aria-activedescendant")
    assert active
    expect(tab.frame.locator(f'[id="{active}"]')).to_have_attribute("aria-selected", "true")
    expect(tab.frame.locator("#gradhealth-announcer")).to_have_text("encoder/gru/kernel, step 333: NaN")


def test_everything_can_be_reached_with_the_tab_key_and_the_focus_is_seen(page, board):
    tab = Tab(page, board).run("seq2seq", details="v|adam|0")
    tab.frame.locator("body").evaluate("() => window.focus()")
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        focused = tab.frame.locator("body").evaluate(
            """() => {
              const e = document.activeElement;
              if (e === document.body) return ["", ""];
              return [e.getAttribute("aria-label") || e.innerText || e.tagName, getComputedStyle(e).outlineStyle];
            }"""
        )
        if focused[0]:
            seen.add(focused[0].split("\n")[0].strip())
            if focused[0] != "SELECT":
                assert focused[1] != "none", f"no outline on {focused[0]!r}"
    for name in ("Live", "Table", "Export", "Zoom in", "Flight recorder", "train.py:41"):
        assert any(name in one for one in seen), (name, seen)


def test_asks_for_no_motion_where_none_is_wanted(new_page, board):
    page = new_page(reduced_motion="reduce")
    tab = Tab(page, board).run("one")
    still = "e => getComputedStyle(e).transitionDuration"
    assert tab.frame.locator(".notice").evaluate(still) == "0s"
    moving = Tab(new_page(reduced_motion="no-preference"), board).run("one")
    assert moving.frame.locator(".notice").evaluate(still) != "0s"


def test_keeps_its_signs_in_forced_colours(new_page, board):
    tab = Tab(new_page(forced_colors="active"), board).run("seq2seq")
    assert tab.frame.locator(".row .glyph-nan").first.evaluate("e => getComputedStyle(e).color") == "rgb(213, 0, 0)"
    tab.shot("forced_colours")
