"""The TensorBoard process gets no TensorFlow from us, and the layers hold."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import tb_gradhealth.serve

ROOM = Path(tb_gradhealth.serve.__file__).parent
ALLOWED = ("tb_gradhealth.format", "tb_gradhealth.health", "tb_gradhealth.report", "tb_gradhealth.serve")

SERVE = """
import sys
{before}
from types import SimpleNamespace
sys.path[:0] = [{tests!r}]
from serve_world import OK, FakeProvider, plugin, schema, steps
from tensorboard.backend.application import TensorBoardWSGI
from werkzeug.test import Client

provider = FakeProvider()
writer = provider.writer("r")
writer.schema(schema(["a", "b"]))
writer.records(steps(0, [[OK, OK]] * 30), "adam", 1000)
client = Client(TensorBoardWSGI([plugin(provider)], data_provider=provider))
where = "?run=r&group=adam&variable=0&variables=0&first=3&last=9&metric="
for metric in ("norm_max", "change"):
    for route in ("runs", "run", "tile", "lines", "variable", "rank", "report", "table", "index.js"):
        answer = client.get("/data/plugin/gradhealth/" + route + where + metric)
        assert answer.status_code == 200, (route, answer.get_data())
sys.exit(bool({{"tensorflow", "keras", "tf_keras"}} & set(sys.modules)))
"""


@pytest.mark.parametrize(("before", "code"), [("", 0), ("import tensorflow", 1)])
def test_answering_every_route_imports_no_tensorflow(before, code) -> None:
    if before:
        pytest.importorskip("tensorflow")
    program = SERVE.format(before=before, tests=str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


@pytest.mark.parametrize("path", sorted(ROOM.glob("*.py")), ids=lambda p: p.name)
def test_the_room_knows_the_rooms_below_it_and_tensorboard(path) -> None:
    for name in imports_of(path):
        if name.startswith("tb_gradhealth"):
            assert name == "tb_gradhealth" or name.startswith(ALLOWED), name
        assert name.partition(".")[0] not in ("tensorflow", "keras", "tf_keras"), name


PURE = (
    "columns",
    "tiles",
    "lines",
    "rank",
    "variable",
    "sheet",
    "change",
    "sampling",
    "numbers",
    "overview",
    "progress",
)


@pytest.mark.parametrize("name", PURE)
def test_what_draws_knows_no_http(name) -> None:
    heavy = {"tensorboard", "werkzeug", "json", "urllib"}
    assert not {module.partition(".")[0] for module in imports_of(ROOM / f"{name}.py")} & heavy
