"""TensorBoards with both loaders, and a watch over everything that must never happen on the page."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

try:
    from playwright.sync_api import Browser, BrowserContext, Page
except ImportError:
    if os.environ.get("CI"):
        raise
    collect_ignore_glob = ["test_*.py"]  # requirements/dev.txt has it

import browser_logs
from browser_boards import Board, loaders


def pytest_collection_modifyitems(items: list[Any]) -> None:
    for item in items:
        if Path(item.fspath).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log directory that most tests look at."""
    root = tmp_path_factory.mktemp("logs")
    browser_logs.write_all(root)
    return root


@pytest.fixture(scope="session")
def boards(logs: Path) -> Iterator[Callable[[str], Board]]:
    """The board over `logs` with a loader; started once."""
    started: dict[str, Board] = {}

    def get(loader: str) -> Board:
        if loader not in started:
            started[loader] = Board(logs, loader, runs=browser_logs.RUNS)
        return started[loader]

    yield get
    for board in started.values():
        board.stop()


@pytest.fixture(params=loaders(), scope="session")
def each_board(request: pytest.FixtureRequest, boards: Callable[[str], Board]) -> Board:
    """The board over `logs`, once with each loader."""
    return boards(request.param)


@pytest.fixture
def board(boards: Callable[[str], Board]) -> Board:
    """The board over `logs`, with the loader that exists everywhere."""
    return boards("python")


@pytest.fixture
def start(request: pytest.FixtureRequest) -> Callable[..., Board]:
    """Starts a board that ends with the test."""

    def started(*args: Any, **kwargs: Any) -> Board:
        made = Board(*args, **kwargs)
        request.addfinalizer(made.stop)
        return made

    return started


@pytest.fixture
def new_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens pages on which anything that must never happen fails the test."""
    contexts: list[BrowserContext] = []
    wrong: list[str] = []

    def opened(**options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"error on the page: {error}"))
        page.on("request", lambda request: _check_origin(page, request.url, wrong))
        page.on("console", lambda message: _check_console(message, wrong))
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not wrong, "\n".join(wrong)


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    return new_page()


def _check_origin(page: Page, url: str, wrong: list[str]) -> None:
    """TensorBoard's own page is not ours to judge; what our frame asks for must stay on the server it came from."""
    if "localhost" not in url and not url.startswith(("data:", "blob:", "about:")):
        wrong.append(f"a request left the machine: {url} (from {page.url})")


def _check_console(message: Any, wrong: list[str]) -> None:
    where = message.location.get("url", "")
    if message.type == "error" and "plugin/gradhealth" in where and "Failed to load resource" not in message.text:
        wrong.append(f"console: {message.text}")
    if "Content Security Policy" in message.text:
        wrong.append(f"console: {message.text}")
