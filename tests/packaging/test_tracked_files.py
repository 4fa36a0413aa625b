import importlib.metadata
import json
import re
import shutil
import subprocess

import pytest
from layers import ROOT

import tb_gradhealth


def tracked():
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("not a git checkout")
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_names_a_folder_of_the_machine_it_was_written_on():
    folders = [*(f"/{name}/" for name in ("work", "root", "tmp")), str(ROOT)]
    found = []
    for path in tracked():
        text = path.read_bytes().decode("utf-8", errors="ignore")
        found += [
            f"{path.relative_to(ROOT)}: {folder}" for folder in folders if re.search(rf"(?<![\w.]){folder}", text)
        ]
    assert found == []


def test_the_version_is_the_same_everywhere():
    version = tb_gradhealth.__version__
    assert importlib.metadata.version("tb_gradhealth") == version
    assert json.loads((ROOT / "frontend" / "package.json").read_text())["version"] == version
    [newest, *_] = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest == version


def test_no_module_is_too_long_to_read():
    long = {p.relative_to(ROOT).as_posix(): len(p.read_bytes().splitlines()) for p in tracked() if p.suffix == ".py"}
    assert {name: lines for name, lines in long.items() if lines > 400 and "_pb2" not in name} == {}


def test_the_entry_points_are_there():
    found = importlib.metadata.entry_points(group="tensorboard_plugins")
    assert [e.value for e in found if e.name == "gradhealth"] == ["tb_gradhealth.serve.loader:GradHealthLoader"]
    found = importlib.metadata.entry_points(group="console_scripts")
    assert [e.value for e in found if e.name == "tb-gradhealth"] == ["tb_gradhealth.__main__:main"]
