"""Narrow and wide windows, fine screens, hidden tabs, long names."""

import re

import pytest
from playwright.sync_api import expect
from tab import Tab, near


def overflow(tab: Tab) -> list[str]:
    """Elements that stick out of the page's right edge."""
    return tab.frame.locator("body").evaluate(
        """body => [...body.querySelectorAll("*")]
          .filter(e => !e.closest(".tooltip, .menu-panel, .table-scroll, .sr-only, dialog, .heat-body, .chart-cell"))
          .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
          .map(e => e.className || e.tagName)"""
    )


@pytest.mark.parametrize(("width", "height"), [(400, 900), (1280, 900), (3840, 2000)])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_fits_into_the_window(new_page, board, width, height, dark):
    page = new_page(viewport={"width": width, "height": height})
    tab = Tab(page, board).run("seq2seq", dark=dark, details="v|adam|1", extras=["loss"])
    expect(tab.frame.locator(".details .facts-list").nth(1)).to_be_visible()
    assert overflow(tab) == []
    assert near(tab.colour("encoder/gru/kernel", 0.9), "#ff1744" if dark else "#d50000")
    tab.shot(f"window_{width}_{'dark' if dark else 'light'}")


def test_on_a_narrow_page_the_details_come_into_sight(new_page, board):
    tab = Tab(new_page(viewport={"width": 400, "height": 900}), board).run("seq2seq")
    tab.row("encoder/gru/bias").click()
    expect(tab.frame.locator(".details h2")).to_be_in_viewport()
    assert tab.frame.locator(".causes").bounding_box()["y"] < tab.frame.locator(".incidents").bounding_box()["y"]
    tab.shot("narrow_details")


@pytest.mark.parametrize("width", [400, 1280])
def test_names_of_300_characters_stay_in_their_column(new_page, board, width):
    tab = Tab(new_page(viewport={"width": width, "height": 900}), board).run("hostile", table="1")
    assert overflow(tab) == []
    long = tab.frame.locator("[role=rowheader][title*=very_long_name_very_long_name]")
    expect(long.locator(".name-tail")).to_have_text(re.compile("/kernel$"))
    tab.shot(f"long_names_{width}")


def test_a_fine_screen_gets_twice_the_pixels(new_page, board):
    tab = Tab(new_page(device_scale_factor=2), board).run("seq2seq")
    width, shown = tab.frame.locator(".heat-canvas").first.evaluate("c => [c.width, c.clientWidth]")
    assert width == 2 * shown
    assert near(tab.colour("encoder/gru/kernel", 333.5 / 600), "#d50000")
    tab.shot("fine_screen")


def test_a_hidden_tab_asks_for_nothing_and_is_whole_when_it_comes_back(page, board):
    tab = Tab(page, board).run("seq2seq")
    page.get_by_text("Scalars").first.click()
    expect(page.locator('iframe[src*="gradhealth"]')).not_to_be_visible()
    page.wait_for_timeout(500)
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/plugin/gradhealth/" in request.url else None)
    page.wait_for_timeout(11_000)
    assert asked == []
    page.set_viewport_size({"width": 1000, "height": 800})
    page.get_by_text("Grad Health").first.click()
    tab.painted()
    assert overflow(tab) == []
    assert near(tab.colour("encoder/gru/kernel", 0.9), "#d50000")
    tab.shot("hidden_and_back")


def test_changing_to_dark_changes_the_page_at_once(page, board):
    tab = Tab(page, board).run("seq2seq")
    page.evaluate("document.body.classList.add('dark-mode')")
    expect(tab.frame.locator("html")).to_have_attribute("data-theme", "dark")
    page.wait_for_timeout(200)
    assert near(tab.colour("encoder/gru/kernel", 0.9), "#ff1744")
