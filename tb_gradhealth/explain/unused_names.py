"""Whether the value made on a line gets a name that nobody ever reads: then it was left out by mistake.

Read from the source, from the innermost of the user's functions outwards: a value that is returned is followed to the
name that the caller gives it. Promises: -1 unless every step of that way is plain.
"""

import ast

from tb_gradhealth.explain.numpy_lines import function_at, statement_at
from tb_gradhealth.explain.source import Stack, is_user_file
from tb_gradhealth.explain.syntax import parse


def never_read_at(stack: Stack) -> int:
    """Place of the frame in which the value that the innermost user's frame computes gets a name that is never read.

    -1 if that is not so.
    """
    part: int | None = None  # its place in the tuple that is returned
    for level in range(len(stack) - 1, -1, -1):
        file, line, function = stack[level]
        if not is_user_file(file):
            continue
        module = parse(file)
        if module is None:
            return -1
        scope = function_at(module.tree, line, function)
        statement = statement_at(scope, line)
        if isinstance(statement, ast.Return):
            part = None  # it is part of what is returned
            continue
        name = _name_given(statement, part)
        if not name:
            return -1
        reads = [n for n in ast.walk(scope) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
        if not reads:
            return level
        returned = [_place_returned(node, name) for node in ast.walk(scope) if isinstance(node, ast.Return)]
        places = [place for place in returned if place is not None]
        if len(reads) != len(places) or len(set(places)) != 1:
            return -1
        part = places[0]
    return -1


def _name_given(statement: ast.stmt | None, part: int | None) -> str:
    """The name that an assignment gives its value, or the `part`-th item of it; "" if there is no plain one."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    target: ast.expr = statement.targets[0]
    if isinstance(target, ast.Tuple | ast.List):
        if part is None or part < 0 or part >= len(target.elts):
            return ""
        target = target.elts[part]
    elif part is not None and part >= 0:
        return ""
    return target.id if isinstance(target, ast.Name) else ""


def _place_returned(node: ast.Return, name: str) -> int | None:
    """Where in a returned tuple a name stands, -1 if it is returned alone, None if it is not."""
    if isinstance(node.value, ast.Name):
        return -1 if node.value.id == name else None
    if isinstance(node.value, ast.Tuple):
        items = [item.id if isinstance(item, ast.Name) else "" for item in node.value.elts]
        return items.index(name) if name in items else None
    return None
