"""The Grad Health tab as a test sees it: what it says, what it paints, and what can be done with it."""

from __future__ import annotations

import json
import re
import urllib.parse
from pathlib import Path
from typing import Any

from browser_boards import Board
from playwright.sync_api import FrameLocator, Locator, Page, expect

ARTIFACTS = Path(__file__).resolve().parents[2] / "test-artifacts" / "browser"
FRAME = 'iframe[src*="plugin_entry.html?name=gradhealth"]'

_PIXEL = """(canvas, [share, y]) => {
  const x = Math.min(canvas.width - 1, Math.floor(share * canvas.width));
  const row = Math.min(canvas.height - 1, Math.round(y * canvas.height / canvas.clientHeight));
  return [...canvas.getContext("2d").getImageData(x, row, 1, 1).data];
}"""


def link(**view: Any) -> str:
    """A deep link's hash: texts as they are, lists and everything else as the page writes them."""
    parts = ["#gradhealth"]
    for key, value in view.items():
        text = value if isinstance(value, str) else json.dumps(value)
        parts.append(f"p.gradhealth.{key}={urllib.parse.quote(text, safe='')}")
    return "&".join(parts)


class Tab:
    """A page that shows the tab of a board."""

    def __init__(self, page: Page, board: Board) -> None:
        self.page = page
        self.board = board

    @property
    def frame(self) -> FrameLocator:
        return self.page.frame_locator(FRAME)

    def open(self, *, dark: bool = False, **view: Any) -> Tab:
        """Opens a deep link, and waits until the page says something."""
        self.page.goto("about:blank")  # or a link that differs in its hash only would not load the page
        self.page.goto(f"{self.board.url}/{'?darkMode=true' if dark else ''}{link(**view)}")
        expect(self.frame.locator("h1")).not_to_have_text("Reading the log directory…", timeout=30_000)
        return self

    def run(self, name: str, **view: Any) -> Tab:
        """Opens a run, and waits until its cells are painted."""
        self.open(run=f"{name}/gradhealth", **view)
        self.painted()
        return self

    def painted(self) -> None:
        canvas = self.frame.locator(".heat-canvas").first
        expect(canvas).to_be_visible()
        self.page.wait_for_function(
            """([frame]) => {
              const page = document.querySelector(frame).contentDocument;
              const canvas = page.querySelector(".heat-canvas");
              if (!canvas || !canvas.width) return false;
              const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
              return data.some((value) => value !== 0);
            }""",
            arg=[FRAME],
        )

    @property
    def verdict(self) -> Locator:
        return self.frame.locator("h1")

    def row(self, name: str) -> Locator:
        """The treegrid's row of a variable, a layer or a group, by its whole name."""
        return self.frame.locator("[role=row]").filter(has=self.frame.locator(f"[role=rowheader][title={_css(name)}]"))

    def names(self) -> list[str]:
        return [cell.get_attribute("title") or "" for cell in self.frame.locator("[role=rowheader]").all()]

    def colour(self, name: str, share: float, plot: int = 0) -> tuple[int, int, int]:
        """The colour of a row's cells at a share of the plot's width."""
        row = self.row(name).bounding_box()
        canvas = self.frame.locator(".heat-canvas").nth(plot)
        box = canvas.bounding_box()
        assert row and box
        middle = row["y"] + row["height"] / 2 - box["y"]
        red, green, blue, _ = canvas.evaluate(_PIXEL, [share, middle])
        return red, green, blue

    def press(self, *keys: str) -> None:
        self.frame.locator("body").evaluate("() => window.focus()")
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def hash(self) -> dict[str, str]:
        """Our part of the address that the user sees."""
        found = {}
        for part in urllib.parse.urlparse(self.page.url).fragment.split("&"):
            key, _, value = part.partition("=")
            if key.startswith("p.gradhealth."):
                found[key.removeprefix("p.gradhealth.")] = urllib.parse.unquote(value)
        return found

    def button(self, name: str) -> Locator:
        return self.frame.get_by_role("button", name=name, exact=True)

    def plot_point(self, share: float, name: str, plot: int = 0) -> tuple[float, float]:
        """A point of the window over a row's cells."""
        row = self.row(name).bounding_box()
        box = self.frame.locator(".plot").nth(plot).bounding_box()
        assert row and box
        return box["x"] + share * box["width"], row["y"] + row["height"] / 2

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        mouse.move(*end)
        mouse.up()

    def shot(self, name: str) -> None:
        """Keeps a picture of what is to be seen now."""
        ARTIFACTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=ARTIFACTS / f"{name}.png")


def near(colour: tuple[int, int, int], wanted: str) -> bool:
    """Whether a colour is the wanted one (``"#d50000"``), give or take a rounding."""
    parts = [int(wanted[i : i + 2], 16) for i in (1, 3, 5)]
    return all(abs(a - b) <= 2 for a, b in zip(colour, parts, strict=True))


def _css(text: str) -> str:
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'
