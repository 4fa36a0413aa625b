"""The built page."""

import gzip
from pathlib import Path

import pytest

from tb_gradhealth.serve.static_files import StaticFiles


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    static = tmp_path / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.js").write_text("export function render() {}")
    (static / "index.css").write_text("body {}")
    (static / "assets" / "worker-Ab12.js").write_text("1")
    (static / "assets" / "a.woff2").write_bytes(b"font")
    (static / "assets" / "odd.xyz").write_bytes(b"odd")
    (tmp_path / "secret.txt").write_text("secret")
    return static


@pytest.mark.parametrize(
    ("name", "content", "content_type"),
    [
        ("index.js", b"export function render() {}", "text/javascript"),
        ("index.css", b"body {}", "text/css"),
        ("assets/worker-Ab12.js", b"1", "text/javascript"),
        ("assets/a.woff2", b"font", "font/woff2"),
        ("assets/odd.xyz", b"odd", "application/octet-stream"),
    ],
)
def test_files_come_with_their_type(folder, name, content, content_type) -> None:
    found = StaticFiles(folder).get(name)
    assert found is not None
    assert gzip.decompress(found.content) == content
    assert found.content_type == content_type


def test_only_names_that_hold_a_hash_are_kept_by_the_browser(folder) -> None:
    files = StaticFiles(folder)
    assert files.get("index.js").max_age == files.get("index.css").max_age == 0
    assert files.get("assets/worker-Ab12.js").max_age > 10**7


@pytest.mark.parametrize(
    "name",
    ["../secret.txt", "assets/../../secret.txt", "/etc/passwd", "assets//a.woff2", "assets", "", ".", "assets/",
     "assets/..%2f..%2fsecret.txt", "ASSETS/a.woff2", "index.js\0"],
)  # fmt: skip
def test_a_path_that_is_not_a_files_name_finds_nothing(folder, name) -> None:
    assert StaticFiles(folder).get(name) is None


@pytest.mark.parametrize("exists", [True, False])
def test_a_page_that_was_not_built_is_a_page_that_says_so(tmp_path, exists) -> None:
    folder = tmp_path / "static"
    if exists:
        folder.mkdir()
    files = StaticFiles(folder)
    script = gzip.decompress(files.get("index.js").content).decode()
    assert script.startswith("export function render()")
    assert "pip install" in script
    assert files.get("index.js").max_age == 0
    assert gzip.decompress(files.get("index.css").content) == b""
    assert files.get("assets/a.js") is None
