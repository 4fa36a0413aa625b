"""The built page, from the installed package.

Promises: only files that were there when first asked are ever served; a path from a request is looked up among their
names and never reaches the file system. Where the page was not built, `index.js` is a page that says so.
"""

import dataclasses
import functools
import gzip
from pathlib import Path

FOLDER = Path(__file__).parent / "static"

_YEAR = 365 * 24 * 3600
_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".woff2": "font/woff2",
}
"""Fixed: the registry of a Windows machine may say that .js is text/plain, and browsers refuse such modules."""

_MISSING = b"""\
export function render() {
  const page = document.body;
  page.style.cssText = "font: 16px/1.5 sans-serif; margin: 2em; max-width: 45em";
  const text = document.createElement("p");
  text.textContent =
    "The Grad Health page is missing from this installation of tb_gradhealth: it was installed from a source tree " +
    "without building it. Install it again with: pip install --force-reinstall --no-deps tb_gradhealth " +
    "(in a source tree: pip install .). The report in the terminal works meanwhile: tb-gradhealth report LOGDIR";
  page.replaceChildren(text);
}
"""


@dataclasses.dataclass(frozen=True)
class StaticFile:
    """A file of the page.

    Attributes:
      content: compressed with gzip.
      content_type: media type.
      max_age: seconds for which browsers may keep it without asking.
    """

    content: bytes
    content_type: str
    max_age: int


class StaticFiles:
    """The files of the built page.

    Args:
      folder: where they are; its files are read when first asked for.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder

    def get(self, name: str) -> StaticFile | None:
        """The file of that name relative to the folder, with slashes; None if there is none."""
        path = self._files.get(name)
        if path is not None:
            return _read(path, name)
        if name == "index.js":
            return StaticFile(_compressed(_MISSING), _TYPES[".js"], 0)
        if name == "index.css":
            return StaticFile(_compressed(b""), _TYPES[".css"], 0)
        return None

    @functools.cached_property
    def _files(self) -> dict[str, Path]:
        return {p.relative_to(self._folder).as_posix(): p for p in sorted(self._folder.rglob("*")) if p.is_file()}


@functools.lru_cache(maxsize=64)
def _read(path: Path, name: str) -> StaticFile:
    # names below assets/ hold a hash of their content: what they name never changes
    max_age = _YEAR if name.startswith("assets/") else 0
    content_type = _TYPES.get(path.suffix, "application/octet-stream")
    return StaticFile(_compressed(path.read_bytes()), content_type, max_age)


def _compressed(content: bytes) -> bytes:
    return gzip.compress(content, 9, mtime=0)
