"""Where a function hands a tensor to NumPy: read from the source, because a buffer that NumPy reads tells nobody.

What is found was read, not seen to run: callers call it "likely".
"""

import ast
from collections.abc import Iterator

from tb_gradhealth.explain.source import Place, Stack, is_user_file
from tb_gradhealth.explain.syntax import parse

_MODULES = ("numpy", "scipy", "sklearn", "pandas", "cv2", "PIL", "librosa", "skimage", "numba", "torch", "jax")
_METHODS = frozenset({"numpy", "tolist", "item", "convert_to_numpy", "to_numpy", "__array__", "get_value", "eval"})


def leaves_tensorflow(stack: Stack) -> Place | None:
    """The first line, from the innermost user's frame of a stack outwards, on which NumPy or its like is called.

    Looks in each of the user's functions on the stack from the line the stack has reached to the function's end.
    """
    for file, line, function in reversed(stack):
        if not is_user_file(file):
            continue
        module = parse(file)
        if module is None:
            continue
        tree = module.tree
        for node in _nodes_after(tree, line, function):
            if _is_written_into_an_array(node, tree) if not isinstance(node, ast.Call) else _leaves(node, tree):
                return Place(file, node.lineno, function)
    return None


def _nodes_after(tree: ast.Module, line: int, function: str) -> Iterator[ast.Call | ast.Assign | ast.AugAssign]:
    """Calls and assignments from the statement at a line to the end of its function."""
    scope = function_at(tree, line, function)
    statement = statement_at(scope, line)
    start = statement.lineno if statement is not None else line
    kinds = ast.Call | ast.Assign | ast.AugAssign
    found = [node for node in ast.walk(scope) if isinstance(node, kinds) and node.lineno >= start]
    yield from sorted(found, key=lambda node: (node.lineno, node.col_offset))


def function_at(tree: ast.Module, line: int, function: str) -> ast.AST:
    """The innermost function around a line, the module if none is."""
    best: ast.AST = tree
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.name == function
            and node.lineno <= line <= (node.end_lineno or node.lineno)
        ):
            best = node
    return best


def statement_at(scope: ast.AST, line: int) -> ast.stmt | None:
    """The simple statement that a line belongs to."""
    best: ast.stmt | None = None
    for node in ast.walk(scope):
        if (
            isinstance(node, ast.stmt)
            and not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.For | ast.While | ast.If | ast.With | ast.Try)
            and node.lineno <= line <= (node.end_lineno or node.lineno)
        ):
            best = node
    return best


def _is_written_into_an_array(node: ast.Assign | ast.AugAssign, tree: ast.Module) -> bool:
    """``canvas[i] = value``, where NumPy made `canvas`: the value is copied."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        root: ast.expr = target
        while isinstance(root, ast.Subscript):
            root = root.value
        if root is not target and isinstance(root, ast.Name) and _is_array(root.id, tree):
            return True
    return False


def _is_array(name: str, tree: ast.Module) -> bool:
    """Whether some assignment gives the name what a function of NumPy returns."""
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and _leaves(node.value, tree)
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
        for node in ast.walk(tree)
    )


def _leaves(call: ast.Call, tree: ast.Module) -> bool:
    function = call.func
    if isinstance(function, ast.Attribute):
        if function.attr in _METHODS:
            return True
        root: ast.expr = function
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            return False
        return bool(call.args) and _module_behind(root.id, tree) in _MODULES
    if isinstance(function, ast.Name):
        return bool(call.args) and _imported_from(function.id, tree) in _MODULES
    return False


def _module_behind(name: str, tree: ast.Module) -> str:
    """The top module that a name stands for by an `import` in the file, "" if none does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if (alias.asname or alias.name.split(".")[0]) == name:
                    return alias.name.split(".")[0]
    return ""


def _imported_from(name: str, tree: ast.Module) -> str:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return node.module.split(".")[0]
    return ""
