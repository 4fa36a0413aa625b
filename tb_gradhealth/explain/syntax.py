"""The user's source files as syntax trees, with what the searches in `creation` ask for."""

import ast
import functools
import linecache
import re
from collections.abc import Iterator

Assignment = ast.Assign | ast.AnnAssign | ast.AugAssign


class Module:
    """One parsed file.

    Attributes:
      calls: all calls, by line.
      assignments: ``name``, ``.attribute`` and ``[key]`` → the assignments that give it a value, by line.
      scopes: id of a node → the function or class or module it stands in.
    """

    def __init__(self, file: str, tree: ast.Module) -> None:
        self.file = file
        self.tree = tree
        self.calls: list[ast.Call] = []
        self.assignments: dict[str, list[Assignment]] = {}
        self.scopes: dict[int, ast.AST] = {}
        self._classes: dict[int, str] = {}
        self._read(tree, tree, "")
        self.calls.sort(key=lambda call: (call.lineno, call.col_offset))

    def _read(self, node: ast.AST, scope: ast.AST, class_: str) -> None:
        for child in ast.iter_child_nodes(node):
            self.scopes[id(child)] = scope
            self._classes[id(child)] = class_
            inner, inside = scope, class_
            if isinstance(child, ast.Call):
                self.calls.append(child)
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = child
            elif isinstance(child, ast.ClassDef):
                inner, inside = child, child.name
            elif isinstance(child, ast.Assign | ast.AnnAssign | ast.AugAssign):
                targets = child.targets if isinstance(child, ast.Assign) else [child.target]
                for name in {name for target in targets for name in target_names(target)}:
                    self.assignments.setdefault(name, []).append(child)
            self._read(child, inner, inside)

    def class_of(self, node: ast.AST) -> str:
        """Name of the class around a node, "" if there is none."""
        return self._classes.get(id(node), "")


@functools.lru_cache(maxsize=512)
def parse(file: str) -> Module | None:
    """The module of a file, None where it cannot be read."""
    try:
        lines = linecache.getlines(file)
        return Module(file, ast.parse("".join(lines), file)) if lines else None
    except (SyntaxError, ValueError, RecursionError, UnicodeDecodeError, MemoryError):
        return None


def target_names(target: ast.AST) -> Iterator[str]:
    """What an assignment gives a value: ``x``, ``.x`` of ``self.x``, ``[key]`` of ``d["key"]``, also inside tuples."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Attribute):
        yield f".{target.attr}"
    elif isinstance(target, ast.Subscript):
        if isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str):
            yield f"[{target.slice.value}]"
        else:
            yield from target_names(target.value)
    elif isinstance(target, ast.Starred):
        yield from target_names(target.value)
    elif isinstance(target, ast.Tuple | ast.List):
        for item in target.elts:
            yield from target_names(item)


def callee(call: ast.AST) -> str:
    """The last name of what is called: ``Dense`` of ``keras.layers.Dense(8)``."""
    function = call.func if isinstance(call, ast.Call) else call
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def keyword(call: ast.Call, *wanted: str) -> ast.expr | None:
    """The value of the first of these keywords."""
    return next((item.value for item in call.keywords if item.arg in wanted), None)


def names(call: ast.Call, name: str) -> bool:
    """Whether a call hands over this very name, also as an f-string that can yield it."""
    value = keyword(call, "name")
    if value is None and callee(call) == "get_variable" and call.args:
        value = call.args[0]
    if isinstance(value, ast.Constant):
        return bool(value.value == name)
    if isinstance(value, ast.JoinedStr):
        pattern = "".join(
            re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+" for part in value.values
        )
        return pattern.strip(".+") != "" and re.fullmatch(pattern, name) is not None
    return False
