"""Reads the user's source files: where a layer, a weight, an optimizer, a loss or the data was written down.

Some causes lie on a line that is on no stack any more: the layer's constructor, the initialiser of a weight, the
arithmetic that prepared the data. What is found here was read, not run, so callers call it "likely".

Promises: nothing raises; a file that cannot be read or parsed has nothing in it; the answer is None unless it is the only
candidate or clearly the best one.
"""

import ast
import functools
import linecache
import re
from collections.abc import Iterable, Iterator, Sequence

from tb_gradhealth.explain.source import Place

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Program:
    """The user's files, as far as they are known.

    Args:
      files: names as the interpreter has them, the most relevant first.
    """

    def __init__(self, files: Iterable[str]):
        self.modules = [module for file in dict.fromkeys(files) if (module := parse(file)) is not None]

    def calls(self) -> Iterator[tuple["Module", ast.Call]]:
        for module in self.modules:
            for call in module.calls:
                yield module, call

    def layer(self, name: str) -> Place | None:
        """Where the Keras layer of that name (``"rnn"``, ``"dense_1"``) is constructed."""
        for candidate in (name, re.sub(r"_\d+$", "", name)):  # a name scope entered again gets a number
            named = [(module, call) for module, call in self.calls() if _names(call, candidate)]
            if named:
                return _place(*named[0]) if len({_key(*entry) for entry in named}) == 1 else None
        kind, _, number = name.rpartition("_")
        kind, index = (kind, int(number)) if number.isdigit() else (name, 0)
        plain = re.sub(r"[^a-z0-9]", "", kind.lower())
        same = [(module, call) for module, call in self.calls() if _constructs(call, plain) and not _is_named(call)]
        if len(same) == 1:
            return _place(*same[0])
        return _place(*same[index]) if index < len(same) and plain and _straight(same) else None

    def variable(self, name: str) -> Place | None:
        """Where the initial value of the variable of that name is made: its random numbers, else its constructor."""
        plain = name.split(":")[0]
        for module, call in self.calls():
            if callee(call) in ("Variable", "get_variable", "add_weight") and _names(call, plain):
                value = keyword(call, "initial_value", "initializer") or (call.args[0] if call.args else None)
                made = value and self._maker(module, value)
                return made or _place(module, call)
        return None

    def _maker(self, module: "Module", value: ast.AST) -> Place | None:
        """The call that draws the numbers, looked for in the expression and in the functions that it calls."""
        seen: set[str] = set()
        todo: list[ast.AST] = [value]
        while todo:
            expression = todo.pop(0)
            for node in ast.walk(expression):
                if isinstance(node, ast.Call) and _draws(node):
                    return _place(module, node)
            for node in ast.walk(expression):
                wanted = callee(node) if isinstance(node, ast.Call) else node.id if isinstance(node, ast.Name) else ""
                if wanted and wanted not in seen:
                    seen.add(wanted)
                    function = module.functions.get(wanted)
                    if function is not None:
                        todo += [item for item in ast.walk(function) if isinstance(item, ast.Return)]
                    else:
                        todo += [item.value for item in module.assignments.get(wanted, ())]
        return None

    def optimizer(self) -> Place | None:
        """Where the optimizer gets its learning rate, if there is one such place."""
        found = [
            (module, call)
            for module, call in self.calls()
            if callee(call) in _OPTIMIZERS and (call.args or keyword(call, "learning_rate", "lr"))
        ]
        return _place(*found[0]) if len({_key(*entry) for entry in found}) == 1 else None

    def compiled_loss(self) -> Place | None:
        """Where `compile` is told the loss, if there is one such place."""
        found = [
            (module, value)
            for module, call in self.calls()
            if callee(call) == "compile" and (value := keyword(call, "loss")) is not None
        ]
        return _place(*found[0]) if len({_key(*entry) for entry in found}) == 1 else None


class Module:
    """One parsed file."""

    def __init__(self, file: str, tree: ast.Module):
        self.file = file
        self.tree = tree
        self.calls: list[ast.Call] = []
        self.functions: dict[str, Function] = {}
        self.assignments: dict[str, list[ast.Assign | ast.AnnAssign | ast.AugAssign]] = {}
        self.scopes: dict[int, ast.AST] = {}
        self._read(tree, tree)
        self.calls.sort(key=lambda call: (call.lineno, call.col_offset))

    def _read(self, node: ast.AST, scope: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            self.scopes[id(child)] = scope
            inner = scope
            if isinstance(child, ast.Call):
                self.calls.append(child)
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                self.functions[child.name] = child
                inner = child
            elif isinstance(child, ast.Assign | ast.AnnAssign | ast.AugAssign) and child.value is not None:
                targets = child.targets if isinstance(child, ast.Assign) else [child.target]
                for target in targets:
                    for name in target_names(target):
                        self.assignments.setdefault(name, []).append(child)
                    if isinstance(child.value, ast.Lambda) and isinstance(target, ast.Name):
                        self.functions[target.id] = child.value
            self._read(child, inner)

    def at(self, line: int) -> list[ast.stmt]:
        """Statements that hold a line, the innermost first."""
        found = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
        ]
        return sorted(found, key=lambda node: ((node.end_lineno or node.lineno) - node.lineno, -node.col_offset))


@functools.lru_cache(maxsize=256)
def parse(file: str) -> Module | None:
    """The module of a file, None where it cannot be read."""
    try:
        return Module(file, ast.parse("".join(linecache.getlines(file)), file))
    except (SyntaxError, ValueError, RecursionError, UnicodeDecodeError):
        return None


def target_names(target: ast.AST) -> Iterator[str]:
    """Names that an assignment gives a value: ``x``, ``self.x`` as ``.x``, and those inside a tuple."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Attribute):
        yield f".{target.attr}"
    elif isinstance(target, ast.Subscript):
        yield from target_names(target.value)
    elif isinstance(target, ast.Starred):
        yield from target_names(target.value)
    elif isinstance(target, ast.Tuple | ast.List):
        for item in target.elts:
            yield from target_names(item)


def callee(call: ast.AST) -> str:
    """The last name of what is called: ``SimpleRNN`` of ``keras.layers.SimpleRNN(8)``."""
    function = call.func if isinstance(call, ast.Call) else call
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def keyword(call: ast.Call, *names: str) -> ast.expr | None:
    """The value of the first of these keywords."""
    for item in call.keywords:
        if item.arg in names:
            return item.value
    return None


_OPTIMIZERS = frozenset(
    {"SGD", "Adam", "AdamW", "Adamax", "Adagrad", "Adadelta", "Nadam", "RMSprop", "Ftrl", "Lion", "Adafactor", "Lamb",
     "Muon", "LossScaleOptimizer", "GradientDescentOptimizer", "MomentumOptimizer", "AdamOptimizer",
     "RMSPropOptimizer", "AdagradOptimizer"}
)  # fmt: skip
_DRAWS = re.compile(
    r"normal|uniform|randn|random|truncated|glorot|he_|lecun|orthogonal|variance_?scaling", re.IGNORECASE
)


def _draws(call: ast.Call) -> bool:
    return bool(_DRAWS.search(callee(call))) and not callee(call).startswith("set_")


def _names(call: ast.Call, name: str) -> bool:
    """Whether a call hands over this very name, also as an f-string that can yield it."""
    value = keyword(call, "name")
    if value is None and callee(call) in ("get_variable",) and call.args:
        value = call.args[0]
    if isinstance(value, ast.Constant):
        return value.value == name
    if isinstance(value, ast.JoinedStr):
        pattern = "".join(
            re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+" for part in value.values
        )
        return pattern.strip(".+") != "" and re.fullmatch(pattern, name) is not None
    return False


def _is_named(call: ast.Call) -> bool:
    return keyword(call, "name") is not None


def _constructs(call: ast.Call, plain: str) -> bool:
    """Whether a call constructs a class of this name, in lower case."""
    return callee(call)[:1].isupper() and callee(call).lower() == plain


def _straight(calls: Sequence[tuple[Module, ast.Call]]) -> bool:
    """Whether the calls stand in one scope, one after the other, each on a line of its own and in no loop."""
    scopes = {id(module.scopes.get(id(call))) for module, call in calls}
    return len(scopes) == 1 and len({call.lineno for _, call in calls}) == len(calls)


def _key(module: Module, node: ast.expr) -> tuple[str, int]:
    return module.file, node.lineno


def _place(module: Module, node: ast.expr) -> Place:
    return Place(module.file, node.lineno)
