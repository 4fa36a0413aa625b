"""The Grad Health tab on the five situations' logs, in a real browser, with each of TensorBoard's loaders."""

import urllib.parse

import pytest
from examples_world import FAULTY, MENDED
from test_examples import first_bad_step

pytestmark = [pytest.mark.slow, pytest.mark.browser]

WORDS = {"nan": "NaN", "none": "None"}
VERDICT = ".verdict h1"
# The rows of variables (those with a button for their curve): the name, and what a screen reader is told.
ROWS = """rows => rows.filter(row => row.querySelector('.line-toggle')).map(row => [
  row.querySelector('[role=rowheader]').title,
  ...[...row.querySelectorAll('[role=gridcell]')].map(cell => cell.textContent)])"""


@pytest.fixture(scope="module")
def page(browser):
    made = browser.new_page(viewport={"width": 1280, "height": 1200})
    yield made
    made.close()


def opened(page, served, situation):
    """The tab's frame, with the run of the situation on it."""
    link = urllib.parse.urlencode({"p.gradhealth.run": f"{situation.name}/gradhealth"})
    page.goto("about:blank")  # a link that differs only in the part after # would not load the page anew
    page.goto(f"{served.url}/#gradhealth&{link}")
    frame = page.frame_locator("iframe").first
    frame.locator(VERDICT).wait_for(timeout=60_000)
    return frame


@pytest.mark.parametrize("situation", FAULTY, ids=lambda s: s.name)
def test_the_tab_shows_the_ill_variables_and_the_first_step(trained, served, page, situation):
    frame = opened(page, served, situation)
    assert frame.locator(VERDICT).inner_text().startswith("Unhealthy: ")
    first = first_bad_step(situation, trained[1][situation.name].stdout)
    [group] = served.get("run", run=f"{situation.name}/gradhealth")["groups"]
    ill = {v["name"]: situation.state_of(v["name"]) for v in group["variables"]}
    frame.locator("[role=treegrid] [role=row]").nth(2).wait_for()
    rows = frame.locator("[role=treegrid] [role=row]").evaluate_all(ROWS)
    shown = {name: (state, since) for name, state, since, *_ in rows}
    assert {name: found for name, found in shown.items() if ill[name] != "ok"} == {
        name: (WORDS[state], f"since step {first}") for name, state in ill.items() if state != "ok"
    }


@pytest.mark.parametrize("situation", MENDED, ids=lambda s: s.name)
def test_the_tab_does_not_call_the_mended_twin_unhealthy(served, page, situation):
    frame = opened(page, served, situation)
    assert not frame.locator(VERDICT).inner_text().startswith("Unhealthy")
