"""Opens a tab of TensorBoard in headless Chromium and takes the time, for `dashboard.py`."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import time
from collections.abc import Iterator
from typing import Any

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# without a GPU, TensorBoard's charts are much faster as SVG than in an emulated WebGL: give them their best chance
_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-3d-apis", "--disable-background-networking"]
_FRAME = 'iframe[src*="plugin_entry.html?name=gradhealth"]'
_MINUTES = 10 * 60_000

_PAINTED = """([frame]) => {
  const page = document.querySelector(frame)?.contentDocument;
  const canvas = page?.querySelector(".heat-canvas");
  if (!canvas || !canvas.width || page.querySelector("h1").textContent.startsWith("Reading")) return false;
  return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value !== 0);
}"""

_CHARTS = """([before]) => {
  const cards = [...document.querySelectorAll("scalar-card")];
  if (!cards.length || cards[0].querySelector(".tag")?.title === before) return false;
  return cards.every((card) => !card.querySelector("mat-spinner") &&
    [...card.querySelectorAll("line-chart .series-view svg path")].some((path) => path.getAttribute("d")?.length > 9));
}"""


@dataclasses.dataclass(frozen=True)
class Opening:
    """What opening a tab cost.

    Attributes:
      seconds: from the address to the finished screen.
      received: bytes that came over the network for data, the page itself left out.
      shown: variables on the screen.
    """

    seconds: float
    received: int
    shown: int


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """A headless browser."""
    from playwright.sync_api import sync_playwright

    path = next((found for found in map(shutil.which, _BROWSERS) if found), None)
    if path is None:
        raise FileNotFoundError(f"None of {', '.join(_BROWSERS)} is on the PATH. On Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        yield browser
        browser.close()


def open_grad_health(browser: Any, url: str, run: str, variables: int) -> Opening:
    """Until the verdict is said and the heatmap painted."""
    with _page(browser) as (page, received):
        begin = time.perf_counter()
        page.goto(f"{url}/#gradhealth&p.gradhealth.run={run}")
        page.wait_for_function(_PAINTED, arg=[_FRAME], timeout=_MINUTES)
        return Opening(time.perf_counter() - begin, sum(received), variables)


def open_time_series(browser: Any, url: str, variables: int) -> tuple[Opening, Opening]:
    """TensorBoard's Time Series tab: until its first page of charts is drawn, and until every page has been once."""
    with _page(browser) as (page, received):
        begin = time.perf_counter()
        page.goto(f"{url}/#timeseries")
        shown, before, first = 0, "", None
        while True:
            page.wait_for_function(_CHARTS, arg=[before], timeout=_MINUTES)
            shown += page.locator("scalar-card").count()
            now = Opening(time.perf_counter() - begin, sum(received), shown)
            first = first or now
            if shown >= variables:
                return first, now
            before = page.locator("scalar-card .tag").first.get_attribute("title")
            page.get_by_role("button", name="Next page").first.click()


@contextlib.contextmanager
def _page(browser: Any) -> Iterator[tuple[Any, list[int]]]:
    context = browser.new_context(viewport={"width": 1600, "height": 3000})  # all charts of a page are in view
    page = context.new_page()
    received: list[int] = []
    session = context.new_cdp_session(page)
    data: set[str] = set()
    session.send("Network.enable")
    session.on(
        "Network.requestWillBeSent",
        lambda event: data.add(event["requestId"]) if "/data/plugin/" in event["request"]["url"] else None,
    )
    session.on(
        "Network.loadingFinished",
        lambda event: received.append(int(event["encodedDataLength"])) if event["requestId"] in data else None,
    )
    yield page, received
    context.close()
