import pytest
from layers import PACKAGE, ROOT, rules, violations

ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text()


def test_every_module_keeps_to_the_layers_of_the_architecture_table():
    assert violations(ROOT / PACKAGE, ARCHITECTURE) == []


def test_the_table_names_every_room():
    rooms = {p.name for p in (ROOT / PACKAGE).iterdir() if (p / "__init__.py").is_file()}
    assert rooms <= set(rules(ARCHITECTURE))


@pytest.mark.parametrize(
    ("file", "line", "says"),
    [
        ("format/x.py", "from tb_gradhealth.health import Tracker", "format/ may not import health/"),
        ("health/x.py", "from tb_gradhealth import record", "health/ may not import record/"),
        ("serve/x.py", "def f():\n    import tensorflow as tf", "serve/ may not import tensorflow"),
        ("report/x.py", "import tensorflow.python.ops", "report/ may not import tensorflow"),
        ("record/x.py", "import keras", "only record/keras_*.py and explain/ may import keras"),
        ("format/x.py", "import pandas", "format/ may not import pandas"),
        ("attic/x.py", "", "does not know attic/"),
    ],
)
def test_a_forbidden_import_is_found(tmp_path, file, line, says):
    for room in ("format", "health", "record"):
        (tmp_path / PACKAGE / room).mkdir(parents=True)
    path = tmp_path / PACKAGE / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(line)
    [found] = violations(tmp_path / PACKAGE, ARCHITECTURE)
    assert found.startswith(f"{PACKAGE}/{file}")
    assert says in found


def test_an_allowed_import_is_not_found(tmp_path):
    for room in ("format", "record"):
        (tmp_path / PACKAGE / room).mkdir(parents=True)
    (tmp_path / PACKAGE / "record" / "keras_x.py").write_text(
        "import json\nimport keras\nimport tensorflow\nfrom tb_gradhealth.format.states import State\n"
    )
    assert violations(tmp_path / PACKAGE, ARCHITECTURE) == []
