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

_COUNT_FRAMES = """() => {
  window.gaps = []; let last = performance.now();
  const tick = (now) => { window.gaps.push(now - last); last = now; window.ticking = requestAnimationFrame(tick); };
  window.ticking = requestAnimationFrame(tick);
}"""
_FRAMES = "() => { cancelAnimationFrame(window.ticking); return window.gaps.sort((a, b) => a - b); }"

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


@dataclasses.dataclass(frozen=True)
class Moving:
    """What it is like to move about.

    Attributes:
      idle: milliseconds between frames while nothing happens, median: what the machine can do.
      middle, slow: the same while moving, median and 95th percentile.
      seconds: of the whole exercise.
      received: bytes of data that it took.
      heap: bytes of the page's objects at its end.
    """

    idle: float
    middle: float
    slow: float
    seconds: float
    received: int
    heap: int


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


def move(browser: Any, url: str, run: str) -> Moving:
    """Zooms in and out, moves, and scrolls through the rows."""
    with _page(browser) as (page, received):
        page.goto(f"{url}/#gradhealth&p.gradhealth.run={run}")
        page.wait_for_function(_PAINTED, arg=[_FRAME], timeout=_MINUTES)
        frame = page.frame_locator(_FRAME)
        box = frame.locator(".plot").first.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + min(box["height"], 400) / 2)
        body = frame.locator("body")
        body.evaluate(_COUNT_FRAMES)
        page.wait_for_timeout(1000)
        idle = body.evaluate(_FRAMES)
        body.evaluate(_COUNT_FRAMES)
        before, begin = sum(received), time.perf_counter()
        page.keyboard.down("Control")
        for turn in range(60):
            page.mouse.wheel(0, -40 if turn < 30 else 40)
        page.keyboard.up("Control")
        for _ in range(40):
            page.mouse.wheel(0, 120)
        for turn in range(60):
            page.mouse.move(box["x"] + 6 * turn, box["y"] + 4 * turn)
        seconds = time.perf_counter() - begin
        busy = body.evaluate(_FRAMES)
        page.wait_for_timeout(2000)
        heap = page.evaluate("performance.memory?.usedJSHeapSize ?? 0")
        return Moving(_middle(idle), _middle(busy), busy[len(busy) * 95 // 100], seconds, sum(received) - before, heap)


def _middle(rising: list[float]) -> float:
    return rising[len(rising) // 2]


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
