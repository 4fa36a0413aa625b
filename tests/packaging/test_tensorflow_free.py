"""Rooms that must run where TensorFlow is not installed, each in a fresh interpreter in which importing it fails."""

import subprocess
import sys

import pytest
from layers import PACKAGE, ROOT

FREE_ROOMS = ("format", "health", "serve", "report")

BLOCKED = """
import importlib.abc, sys

class Blocker(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("tensorflow", "keras", "tf_keras"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
"""

UNASKED = """
import sys
loaded = sorted({name.split(".")[0] for name in sys.modules} & {"tensorflow", "keras", "tf_keras"})
assert not loaded, f"imported unasked: {loaded}"
"""


def modules(room):
    for path in sorted((ROOT / PACKAGE / room).rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        yield name.removesuffix(".__init__")


def fresh_interpreter(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)


@pytest.mark.parametrize("room", FREE_ROOMS)
def test_the_room_runs_where_tensorflow_is_not_installed(room):
    names = list(modules(room))
    assert names
    done = fresh_interpreter(BLOCKED + f"import {', '.join(names)}")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("room", FREE_ROOMS)
def test_the_room_does_not_import_tensorflow_where_it_is_installed(room):
    done = fresh_interpreter(f"import {', '.join(modules(room))}" + UNASKED)
    assert done.returncode == 0, done.stderr


def test_the_package_itself_imports_without_tensorflow():
    done = fresh_interpreter(BLOCKED + "import tb_gradhealth\nprint(tb_gradhealth.__version__)")
    assert done.returncode == 0, done.stderr


def test_the_command_line_runs_without_tensorflow(tmp_path):
    done = fresh_interpreter(
        BLOCKED
        + f"import tb_gradhealth.__main__ as m\nsys.argv = ['tb-gradhealth', 'report', {str(tmp_path)!r}]\nm.main()"
    )
    assert "tensorflow" not in done.stderr.lower()
    assert "Traceback" not in done.stderr


def test_the_check_can_fail():
    assert "No module named 'tensorflow'" in fresh_interpreter(BLOCKED + "import tensorflow").stderr
    pretended = "import sys, types\nsys.modules['tensorflow'] = types.ModuleType('tensorflow')\n"
    assert "imported unasked: ['tensorflow']" in fresh_interpreter(pretended + UNASKED).stderr
