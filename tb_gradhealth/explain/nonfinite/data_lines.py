"""From the line where data enters a step back to the line that put a NaN into it, by reading the source.

A backward slice over names: an argument, the variable it is, the dictionary entry behind ``state["x"]``, the function
that returned it. The best candidate is the nearest expression that can make a NaN out of plain numbers (a division by a
standard deviation, a logarithm, a literal ``nan``), else the one that reads a file.
"""

import ast
import re
from collections.abc import Callable, Iterator

from tb_gradhealth.explain.nonfinite.written import functions_of
from tb_gradhealth.explain.source import Place, Stack, user_frames
from tb_gradhealth.explain.syntax import Module, callee, parse, target_names

_STEPS = 400
"""How many expressions a slice looks at."""

LARGE = 1000.0
"""A number that is written down in the making of data and makes it large."""

_DRAWS = re.compile(r"^(random|rand\w*|integers|normal|uniform|poisson|lognormal|exponential|arange|linspace)$")
_LOADS = re.compile(r"^(read_\w+|loadtxt|genfromtxt|load|fromfile|open|load_data|TextLineDataset|make_csv_dataset)$")
_SPREADS = re.compile(r"^(std|var|max|min|ptp|sum|norm|mean|count_nonzero|nanstd|reduce_std|reduce_sum|reduce_max)$")
_POLES = re.compile(r"^(log|log2|log10|log1p|sqrt|divide|true_divide|reciprocal|rsqrt|arccos|arcsin|acos|asin|power)$")


def maker_of_bad_data(use: Place, argument: int | None = None) -> Place | None:
    """The line that most likely made the bad values.

    Args:
      use: a line that takes the data: a call of `fit`, or an operation on it.
      argument: which argument of `fit` it is, 0 for x, 1 for y; None if that is not known.
    """
    return _best(use, argument, _suspicion)


def source_of_data(use: Place, argument: int | None = None) -> Place | None:
    """The line that most likely made the values so large: one that writes down large numbers, else that reads a file.

    Args:
      use, argument: as for `maker_of_bad_data`.
    """
    return _best(use, argument, _largeness)


def sought(
    find: Callable[[Place, int | None], Place | None], use: Place | None, stack: Stack, argument: int | None
) -> Place | None:
    """What `find` finds from the line that takes the data, else from the lines around it, the innermost first."""
    for place in (*((use,) if use is not None else ()), *reversed(user_frames(stack))):
        found = find(place, argument)
        if found is not None:
            return found
    return None


def _best(use: Place, argument: int | None, score_of: Callable[[ast.expr], int]) -> Place | None:
    """The line of the expression with the best score, of equal ones the nearest."""
    module = parse(use.file)
    if module is None:
        return None
    best: tuple[int, Place] | None = None
    for expression in _slice(module, _entry(module, use.line, argument)):
        for node in ast.walk(expression):
            score = score_of(node) if isinstance(node, ast.expr) else 0
            if isinstance(node, ast.expr) and score and (best is None or score > best[0]):
                best = (score, Place(module.file, node.lineno))
    return best[1] if best else None


def _largeness(node: ast.expr) -> int:
    """How well an expression can make large values: 0 not at all."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return 3 if abs(node.value) >= LARGE else 0
    if isinstance(node, ast.Call) and _LOADS.match(callee(node)):
        return 2
    return 1 if isinstance(node, ast.Call) and _DRAWS.search(callee(node)) else 0


def _entry(module: Module, line: int, argument: int | None) -> list[ast.expr]:
    statements = _statements_at(module, line)
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and callee(node) in ("fit", "train_on_batch", "evaluate"):
                return _arguments(node, argument)
    expressions: list[ast.expr] = []
    for statement in statements[:1]:
        expressions += [node for node in ast.iter_child_nodes(statement) if isinstance(node, ast.expr)]
    return expressions


def _statements_at(module: Module, line: int) -> list[ast.stmt]:
    """Statements that hold a line, the innermost first."""
    found = [
        node
        for node in ast.walk(module.tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return sorted(found, key=lambda node: ((node.end_lineno or node.lineno) - node.lineno, -node.col_offset))


def _arguments(call: ast.Call, argument: int | None) -> list[ast.expr]:
    names = ("x", "y", "sample_weight")
    given: list[ast.expr | None] = [
        next((item.value for item in call.keywords if item.arg == name), None) for name in names
    ]
    for place, value in enumerate(call.args[: len(names)]):
        given[place] = value
    if argument is not None and argument < len(given) and given[argument] is not None:
        return [value for value in (given[argument],) if value is not None]
    return [value for value in given if value is not None]


def _slice(module: Module, start: list[ast.expr]) -> Iterator[ast.AST]:
    """Expressions that a value may come from, the nearest first."""
    todo: list[ast.AST] = list(start)
    seen: set[int] = set()
    while todo and len(seen) < _STEPS:
        expression = todo.pop(0)
        if id(expression) in seen:
            continue
        seen.add(id(expression))
        yield expression
        for node in ast.walk(expression):
            todo += _sources(module, node)


def _sources(module: Module, node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        return _entries(module, node.slice.value)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return _values(module, f".{node.attr}")
    if isinstance(node, ast.Name):
        scope = _scope_of(module, node)
        found = _values(module, node.id, scope) or _looped(module, node.id) or _handed_over(module, node.id, scope)
        return found or functions_of(module).get(node.id, [])  # a function handed over, as in dataset.map(scale)
    if isinstance(node, ast.Call):
        return functions_of(module).get(callee(node), [])
    return []


def _values(module: Module, name: str, scope: ast.AST | None = None) -> list[ast.AST]:
    found = module.assignments.get(name, [])
    local = [item for item in found if scope is not None and module.scopes.get(id(item)) is scope]
    chosen = local or found
    return [item.value for item in reversed(chosen) if item.value is not None]


def _handed_over(module: Module, name: str, scope: ast.AST | None) -> list[ast.AST]:
    """What a function's parameter is given where the function is called."""
    if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        return []
    names = [item.arg for item in (*scope.args.posonlyargs, *scope.args.args)]
    found: list[ast.AST] = []
    for call in module.calls if name in names else ():
        if callee(call) == scope.name:
            found += [item.value for item in call.keywords if item.arg == name]
            place = names.index(name) - (names[:1] == ["self"])
            found += call.args[place : place + 1]
    return found


def _looped(module: Module, name: str) -> list[ast.AST]:
    """What a loop or a comprehension runs over."""
    found: list[ast.AST] = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.For | ast.comprehension) and name in set(target_names(node.target)):
            found.append(node.iter)
    return found


def _entries(module: Module, key: str) -> list[ast.AST]:
    """Values under a key of any dictionary written in the file."""
    found: list[ast.AST] = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Dict):
            for name, value in zip(node.keys, node.values, strict=True):
                if isinstance(name, ast.Constant) and name.value == key:
                    found.append(value)
        elif isinstance(node, ast.Call) and callee(node) == "dict":
            found += [item.value for item in node.keywords if item.arg == key]
    return found + [item.value for item in module.assignments.get(f"[{key}]", ()) if item.value is not None]


def _scope_of(module: Module, node: ast.AST) -> ast.AST | None:
    return module.scopes.get(id(node))


def _suspicion(node: ast.AST) -> int:
    """How well an expression can make a NaN or an Inf: 0 not at all."""
    if isinstance(node, ast.Attribute) and node.attr in ("nan", "NaN", "inf"):
        return 5
    if isinstance(node, ast.Call) and callee(node) == "float" and node.args and isinstance(node.args[0], ast.Constant):
        return 5 if str(node.args[0].value).lower().lstrip("+-") in ("nan", "inf") else 0
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and not isinstance(node.right, ast.Constant):
        spread = any(_SPREADS.match(callee(item)) for item in ast.walk(node.right) if isinstance(item, ast.Call))
        return 4 if spread else 3
    if isinstance(node, ast.Call) and _POLES.match(callee(node)):
        return 3
    if isinstance(node, ast.Call) and _LOADS.match(callee(node)):
        return 1
    return 0
