"""Where a custom gradient says None: the `return` line in the user's gradient function."""

import ast
import inspect
from collections.abc import Callable
from typing import Any

from tb_gradhealth.explain.source import Place
from tb_gradhealth.explain.syntax import parse


def return_line(function: Callable[..., Any], position: int) -> Place | None:
    """The line on which the gradient function returns None for its `position`-th input, else its only `return`.

    None if the source cannot be read.
    """
    found = _returns(function)
    for statement in found:
        if _is_none_at(statement.value, position):
            return _place(function, statement)
    if found:
        return _place(function, found[-1])
    code = getattr(inspect.unwrap(function), "__code__", None)
    return Place(code.co_filename, code.co_firstlineno, code.co_name) if code is not None else None


def none_by_reading(function: Callable[..., Any]) -> tuple[int, ...]:
    """Inputs for which every `return` of a gradient function says None literally."""
    found = _returns(function)
    if not found:
        return ()
    widths = [
        len(statement.value.elts) if isinstance(statement.value, ast.Tuple | ast.List) else 1 for statement in found
    ]
    return tuple(
        position
        for position in range(max(widths))
        if all(_is_none_at(statement.value, position) for statement in found)
    )


def _is_none_at(value: ast.expr | None, position: int) -> bool:
    if value is None:
        return True
    if isinstance(value, ast.Tuple | ast.List):
        if value.elts and isinstance(value.elts[0], ast.Tuple | ast.List):  # (gradients, gradients of variables)
            value = value.elts[0]
        if not isinstance(value, ast.Tuple | ast.List) or position >= len(value.elts):
            return False
        item = value.elts[position]
        return isinstance(item, ast.Constant) and item.value is None
    return isinstance(value, ast.Constant) and value.value is None


def _returns(function: Callable[..., Any]) -> list[ast.Return]:
    """The `return` statements of a function itself, not of functions inside it."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    module = parse(code.co_filename) if code is not None else None
    if code is None or module is None:
        return []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno and code.co_name == "<lambda>":
            return [ast.copy_location(ast.Return(node.body), node.body)]
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if code.co_firstlineno in (node.lineno, first):
                return _own_returns(node)
    return []


def _own_returns(node: ast.AST) -> list[ast.Return]:
    found: list[ast.Return] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return):
            found.append(child)
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            found += _own_returns(child)
    return found


def _place(function: Callable[..., Any], statement: ast.Return) -> Place:
    code: Any = inspect.unwrap(function).__code__
    return Place(code.co_filename, statement.lineno, code.co_name)
