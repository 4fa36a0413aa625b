"""The layer rules of ARCHITECTURE.md, read from its table and checked against the imports of every module."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "tb_gradhealth"

# What the table calls a thing, and the packages that are meant.
PACKAGES = {
    "NumPy": {"numpy"},
    "protobuf": {"google"},
    "TensorBoard": {"tensorboard", "werkzeug"},
    "TensorFlow": {"tensorflow"},
    "Keras": {"keras", "tf_keras"},
    "IPython": {"IPython"},
}


def rules(architecture: str) -> dict[str, tuple[set[str], set[str]]]:
    """The table as `{room: (rooms it may import, packages it may import)}`; room `"."`: the package's own files."""
    found = {}
    for line in architecture.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        room = re.match(r"`([\w.]+)/`", cells[0])
        if len(cells) == 3 and room:
            rooms = set(re.findall(r"`(\w+)/`", cells[2]))
            packages = {p for word, names in PACKAGES.items() if word in cells[2] for p in names}
            found["." if room[1] == PACKAGE else room[1]] = (rooms, packages)
    return found


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every import in a file, also inside functions: its line and the full name of what is imported."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative imports hide the room; write the full name"
            if node.module == PACKAGE:
                yield from ((node.lineno, f"{PACKAGE}.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.module or ""


def may_use_keras(path: Path, package: Path) -> bool:
    """Whether this is one of the files that the text below the table lets import Keras."""
    room, *_, name = path.relative_to(package).parts
    return room == "explain" or (room == "record" and name.startswith("keras_"))


def violations(package: Path, architecture: str) -> list[str]:
    """One sentence per import that the rules do not allow, or per room that the table does not know."""
    table, wrong = rules(architecture), []
    for path in sorted(package.rglob("*.py")):
        if path.name.endswith("_pb2.py"):
            continue
        parts = path.relative_to(package).parts
        room = parts[0] if len(parts) > 1 else "."
        where = path.relative_to(package.parent).as_posix()
        if room not in table:
            wrong.append(f"{where}: the table of ARCHITECTURE.md does not know {room}/")
            continue
        rooms, packages = table[room]
        for line, name in imports(path):
            top, *rest = name.split(".")
            if top == PACKAGE:
                other = rest[0] if rest and (package / rest[0]).is_dir() else "."
                if other not in (room, ".") and other not in rooms:
                    wrong.append(f"{where}:{line}: {room}/ may not import {other}/")
                if other == "." and room != "." and rest[:1] not in ([], ["__version__"]):
                    wrong.append(f"{where}:{line}: {room}/ may not import {name}")
            elif top in PACKAGES["Keras"]:
                if not may_use_keras(path, package):
                    wrong.append(f"{where}:{line}: only record/keras_*.py and explain/ may import {top}")
            elif top not in sys.stdlib_module_names and top not in packages:
                wrong.append(f"{where}:{line}: {room}/ may not import {top}")
    return wrong
