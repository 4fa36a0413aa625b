"""For all tests: quiet TensorFlow, the TensorFlow backend of Keras, and one Chromium.

The browser is started once for the whole session: Playwright allows one instance a thread. With several processes
(`pytest -n 2`) a file's tests stay together, and a folder's where they share what is dear to make.
"""

import os
import shutil
from pathlib import Path

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["KERAS_BACKEND"] = "tensorflow"

BUNDLE = Path(__file__).resolve().parent.parent / "tb_gradhealth" / "serve" / "static" / "index.js"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SHARED_BY_FOLDER = ("browser", "examples")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadScopeScheduling

    class TogetherWhatShares(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            folder = Path(file).parent
            return str(folder) if folder.name in SHARED_BY_FOLDER else file

    return TogetherWhatShares(config, log)


@pytest.fixture(scope="session")
def browser():
    assert BUNDLE.is_file(), "The page is not built. Run: python scripts/build_frontend.py"
    path = next((found for found in map(shutil.which, BROWSERS) if found), None)
    assert path, f"The browser tests need one of {', '.join(BROWSERS)} on the PATH. On Debian: apt-get install chromium"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield made
        made.close()
