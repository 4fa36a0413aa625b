"""Where a layer, the initial value of a weight, the optimizer or the loss was written down, read from the user's files.

Some causes lie on a line that is on no stack any more. What is found here was read, not run, so callers call it
"likely". Promises: nothing raises; the answer is None unless there is one candidate, or one that is clearly the best.
"""

import ast
import re
from collections.abc import Iterator

from tb_gradhealth.explain.creation import MAKERS, Creations, only, place_in
from tb_gradhealth.explain.source import Place, Stack
from tb_gradhealth.explain.syntax import Module, callee, keyword, names

_DRAWS = re.compile(r"normal|uniform|randn|random|truncated|glorot|he_|lecun|orthogonal|scaling", re.IGNORECASE)
_OPTIMIZERS = frozenset(
    {"SGD", "Adam", "AdamW", "Adamax", "Adagrad", "Adadelta", "Nadam", "RMSprop", "Ftrl", "Lion", "Adafactor", "Lamb",
     "Muon", "GradientDescentOptimizer", "MomentumOptimizer", "AdamOptimizer", "RMSPropOptimizer", "AdagradOptimizer"}
)  # fmt: skip
_RATES = ("learning_rate", "lr")


class Written:
    """What the files of a stack, and the user's other modules, say.

    Args:
      stack: the most relevant files come from there.
    """

    def __init__(self, stack: Stack):
        self._creations = Creations(stack)

    def layer(self, name: str) -> Place | None:
        """Where the Keras layer of that name is constructed."""
        return self._creations.layer(name)

    def initial_value(self, name: str) -> Place | None:
        """Where the numbers that a variable starts with are drawn, else where the variable is made."""
        for module, call in self._calls():
            if callee(call) in MAKERS and names(call, name):
                value = keyword(call, "initial_value", "initializer") or (call.args[0] if call.args else None)
                drawn = None if value is None else _draw(module, value)
                return drawn or place_in(module, call)
        return None

    def optimizer(self) -> Place | None:
        """Where the optimizer gets its learning rate, if there is one such place."""
        return only(
            (module, call)
            for module, call in self._calls()
            if callee(call) in _OPTIMIZERS and (call.args or keyword(call, *_RATES) is not None)
        ) or only(
            (module, call)
            for module, call in self._calls()
            if callee(call) == "compile" and isinstance(keyword(call, "optimizer"), ast.Constant)
        )

    def update(self) -> Place | None:
        """Where weights are moved by hand, if there is one such place: ``w.assign_sub(rate * gradient)``."""
        return only((module, call) for module, call in self._calls() if callee(call) == "assign_sub")

    def loss(self) -> Place | None:
        """Where `compile` is told the loss, if there is one such place."""
        return only(
            (module, value)
            for module, call in self._calls()
            if callee(call) == "compile" and (value := keyword(call, "loss")) is not None
        )

    def _calls(self) -> Iterator[tuple[Module, ast.Call]]:
        for module in self._creations.modules:
            for call in module.calls:
                yield module, call


def functions_of(module: Module) -> dict[str, list[ast.AST]]:
    """Name of a function → what it returns or yields."""
    found: dict[str, list[ast.AST]] = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name] = [
                item.value
                for item in ast.walk(node)
                if isinstance(item, ast.Return | ast.Yield) and item.value is not None
            ]
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found[target.id] = [node.value.body]
    return found


def _draw(module: Module, value: ast.AST) -> Place | None:
    """The call that draws the numbers: in the expression, or in the functions and names that it leads to."""
    functions = functions_of(module)
    seen: set[str] = set()
    todo: list[ast.AST] = [value]
    while todo:
        expression = todo.pop(0)
        for node in ast.walk(expression):
            if isinstance(node, ast.Call) and _DRAWS.search(callee(node)) and not callee(node).startswith("set_"):
                return place_in(module, node)
        for node in ast.walk(expression):
            wanted = callee(node) if isinstance(node, ast.Call | ast.Name) else ""
            if wanted and wanted not in seen:
                seen.add(wanted)
                todo += functions.get(wanted) or [
                    item.value for item in module.assignments.get(wanted, ()) if item.value is not None
                ]
    return None
