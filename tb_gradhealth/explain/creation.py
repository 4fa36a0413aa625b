"""The lines on which layers and variables are made, found by reading the user's source.

A cause may lie on a line that is on no stack any more: the constructor of a layer in a Functional model, a weight that
nothing uses. The name tells which call it was; without a name, the class and the attribute it is kept under do.

Promises: nothing raises; None where no line is the only one or clearly the best.
"""

import ast
import contextlib
import gc
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from tb_gradhealth.explain import source
from tb_gradhealth.explain.program import Op
from tb_gradhealth.explain.source import Place, Stack
from tb_gradhealth.explain.syntax import Module, callee, keyword, names, parse
from tb_gradhealth.explain.variables import name_of, raw

MAKERS = frozenset({"Variable", "get_variable", "add_weight", "add_variable"})
_MODELS = ("functional.py", "sequential.py", "keras/src/ops/function.py", "keras/src/engine/functional.py")
_RUNNERS = frozenset({"fit", "train_on_batch", "evaluate", "test_on_batch", "predict"})
_NO_LAYER = re.compile(r"^(while|cond|body|gradient_tape|StatefulPartitionedCall|PartitionedCall|functional|sequential|"
                       r"compile_loss|loss|Adam|SGD|gradients)(_\d+)?$", re.IGNORECASE)  # fmt: skip


class Creations:
    """Finds lines in the files of a stack and in the user's other modules.

    Args:
      stack: of the gradient call: the most relevant files come from there.
    """

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._modules: list[Module] | None = None
        self._places: dict[int, Place | None] = {}

    @property
    def modules(self) -> list[Module]:
        if self._modules is None:
            files = [place.file for place in reversed(source.user_frames(self._stack))]
            files += [file for file in _loaded_files() if file not in files]
            self._modules = [module for file in dict.fromkeys(files) if (module := parse(file)) is not None]
        return self._modules

    # ---- operations ----

    def place_of(self, op: Op) -> Place | None:
        """The user's line of an operation; the layer's constructor where a whole model stands between."""
        key = id(op)
        if key not in self._places:
            self._places[key] = self._find_place(op)
        return self._places[key]

    def _find_place(self, op: Op) -> Place | None:
        stack = op.stack
        place = source.innermost(stack)
        if place is None or not self._hides_the_layer(stack):
            return place
        return self.layer_of(op) or self._compiled_loss(stack) or place

    def layer_of(self, op: Op, argument: str = "") -> Place | None:
        """The constructor of the layer that an operation belongs to; the line of one of its arguments, if it has it."""
        parts = [part for part in (op.scope or op.name).split("/") if part]
        if not op.scope.endswith("/"):
            parts = parts[:-1]
        for part in reversed(parts):
            if _NO_LAYER.match(part):
                continue
            found = self.layer(part, argument)
            if found is not None:
                return found
        return None

    @staticmethod
    def _hides_the_layer(stack: Stack) -> bool:
        inner = stack[source.innermost_index(stack) + 1 :]
        return any(
            frame[2] in _RUNNERS or frame[0].replace("\\", "/").endswith(_MODELS)
            for frame in inner
            if source.library_of(frame[0]) in ("keras", "tf_keras")
        )

    def _compiled_loss(self, stack: Stack) -> Place | None:
        inner = stack[source.innermost_index(stack) + 1 :]
        if not any("/losses/" in f[0].replace("\\", "/") or f[0].endswith("compile_utils.py") for f in inner):
            return None
        found = [
            (module, value)
            for module, call in self._calls()
            if callee(call) == "compile" and (value := keyword(call, "loss")) is not None
        ]
        return only(found)

    # ---- layers ----

    def layer(self, name: str, argument: str = "") -> Place | None:
        """Where the Keras layer of that name is constructed."""
        for wanted in dict.fromkeys((name, re.sub(r"_\d+$", "", name))):  # a scope entered again gets a number
            named = [(module, call) for module, call in self._calls() if names(call, wanted) and _is_class(call)]
            if named:
                return _argument_place(*named[0], argument) if only(named) else None
        layer = _living_layer(name)
        kind = type(layer).__name__ if layer is not None else ""
        kind = kind or re.sub(r"_\d+$", "", name).replace("_", "")
        calls = [
            (module, call)
            for module, call in self._calls()
            if callee(call).lower() == kind.lower() and keyword(call, "name") is None and _is_class(call)
        ]
        fitting = [entry for entry in calls if layer is None or _fits(entry[1], layer)]
        chosen = fitting or calls
        if not chosen:
            return None
        if len({(module.file, call.lineno) for module, call in chosen}) == 1:
            return _argument_place(*chosen[0], argument)
        number = re.search(r"_(\d+)$", name)
        place = int(number.group(1)) if number else 0
        if len(calls) > place and calls[place] in chosen and _straight(calls):
            return _argument_place(*calls[place], argument)
        return None

    # ---- variables ----

    def variable(self, variable: Any) -> Place | None:
        """Where a variable is made: its own constructor, else that of the layer that made it."""
        path = name_of(variable)
        parts = path.split("/")
        last = re.sub(r"_\d+$", "", parts[-1])
        for wanted in dict.fromkeys((parts[-1], last, path)):
            found = [(module, call) for module, call in self._calls() if callee(call) in MAKERS and names(call, wanted)]
            if found:
                found = self._of_owner(found, variable) or found
                return place_in(*found[0])
        return self._kept_under(variable) or self._layer_of_variable(variable, parts)

    def _of_owner(self, found: list[tuple[Module, ast.Call]], variable: Any) -> list[tuple[Module, ast.Call]]:
        """Those of the calls that stand in the class of the layer that owns the variable."""
        owner = owner_of(variable)
        if owner is None:
            return []
        classes = {kind.__name__ for kind in type(owner).__mro__}
        return [entry for entry in found if entry[0].class_of(entry[1]) in classes]

    def _kept_under(self, variable: Any) -> Place | None:
        """Where the attribute or name that holds a variable is given a variable."""
        for holder, attribute in holders(variable):
            for module in self.modules:
                for statement in module.assignments.get(attribute, ()):
                    value = statement.value
                    if value is None or not any(_makes_variable(node) for node in ast.walk(value)):
                        continue
                    if holder and module.class_of(statement) not in ("", *holder):
                        continue
                    return Place(module.file, statement.lineno)
        return None

    def _layer_of_variable(self, variable: Any, parts: list[str]) -> Place | None:
        owner = owner_of(variable)
        if owner is not None:
            name = getattr(owner, "name", "")
            found = self.layer(name) if isinstance(name, str) and name else None
            if found is not None:
                return found
        for part in reversed(parts[:-1]):
            found = self.layer(part)
            if found is not None:
                return found
        return None

    def frozen(self, variable: Any) -> Place | None:
        """Where a layer or variable is set not to be trained, if there is one such line for it."""
        found: list[tuple[Module, ast.AST]] = []
        for module in self.modules:
            for statement in module.assignments.get(".trainable", ()):
                if isinstance(statement.value, ast.Constant) and statement.value.value is False:
                    found.append((module, statement))
        owner = owner_of(variable)
        name = str(getattr(owner, "name", "")) if owner is not None else ""
        mine = [(m, s) for m, s in found if name and name in ast.unparse(s)]
        return only(mine) or only(found)

    def tape_without_watching(self) -> Place | None:
        """Where a tape is made with ``watch_accessed_variables=False``, if there is one such line."""
        found = [
            (module, call)
            for module, call in self._calls()
            if callee(call) == "GradientTape"
            and isinstance(value := keyword(call, "watch_accessed_variables"), ast.Constant)
            and value.value is False
        ]
        own = [entry for entry in found if entry[0].file in {place.file for place in source.user_frames(self._stack)}]
        return only(own) or only(found)

    def replaced(self, tensor: Any) -> tuple[Place | None, str]:
        """Where a name or attribute that now holds a plain tensor was given it, and that name."""
        for _, attribute in holders(tensor):
            for module in self.modules:
                for statement in reversed(module.assignments.get(attribute, [])):
                    value = statement.value
                    if value is None or any(_makes_variable(node) for node in ast.walk(value)):
                        continue
                    if isinstance(value, ast.BinOp | ast.Call) or isinstance(statement, ast.AugAssign):
                        return Place(module.file, statement.lineno), attribute.lstrip(".")
        return None, ""

    def _calls(self) -> Iterator[tuple[Module, ast.Call]]:
        for module in self.modules:
            for call in module.calls:
                yield module, call


def holders(thing: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    """Names under which a variable or tensor is kept: (names of the owner's classes, ``.attribute`` or key).

    Looks at who refers to it: instances, dictionaries and lists in them, local names.
    """
    wanted = {id(thing), id(raw(thing))}
    for referrer in gc.get_referrers(thing, raw(thing)):
        with contextlib.suppress(Exception):
            if not isinstance(referrer, dict):
                continue
            for key, value in list(referrer.items()):
                if id(value) not in wanted or not isinstance(key, str):
                    continue
                owner = _instance_of(referrer)
                if owner is not None:
                    yield tuple(kind.__name__ for kind in type(owner).__mro__), f".{key}"
                else:
                    yield (), f"[{key}]"
                    yield (), key
    frame = sys._getframe(1)
    while frame is not None:
        if source.is_user_file(frame.f_code.co_filename):
            for key, value in list(frame.f_locals.items()):
                if id(value) in wanted:
                    yield (), key
        frame = frame.f_back  # type: ignore[assignment]


def _instance_of(attributes: dict[Any, Any]) -> Any:
    for owner in gc.get_referrers(attributes):
        if getattr(owner, "__dict__", None) is attributes and not isinstance(owner, type):
            return owner
    return None


def owner_of(variable: Any) -> Any:
    """The Keras layer that has a variable among its own weights, None if none is found."""
    wanted = {id(variable), id(raw(variable))}
    for layer in living_layers():
        with contextlib.suppress(Exception):
            own = [*getattr(layer, "_trainable_variables", ()), *getattr(layer, "_non_trainable_variables", ())]
            own += [*getattr(layer, "_trainable_weights", ()), *getattr(layer, "_non_trainable_weights", ())]
            if any(id(item) in wanted or id(raw(item)) in wanted for item in own):
                return layer
    return None


def living_layers() -> list[Any]:
    """All Keras layers that are alive."""
    kinds = tuple(
        kind
        for name in ("keras", "tf_keras")
        if (module := sys.modules.get(name)) is not None
        and (kind := getattr(getattr(module, "layers", None), "Layer", None)) is not None
    )
    return [thing for thing in gc.get_objects() if isinstance(thing, kinds)] if kinds else []


def _living_layer(name: str) -> Any:
    wanted = (name, re.sub(r"_\d+$", "", name))
    found = [layer for layer in living_layers() if getattr(layer, "name", None) in wanted]
    exact = [layer for layer in found if layer.name == name]
    return (exact or found or [None])[0]


def _fits(call: ast.Call, layer: Any) -> bool:
    """Whether the literal arguments of a constructor agree with a layer's configuration."""
    with contextlib.suppress(Exception):
        config = layer.get_config()
        for item in call.keywords:
            if item.arg in config and isinstance(item.value, ast.Constant):
                value = config[item.arg]
                if isinstance(value, str | int | float | bool) and value != item.value.value:
                    return False
        if call.args and isinstance(call.args[0], ast.Constant):
            first = next((key for key in ("units", "filters", "input_dim", "rate") if key in config), None)
            if first is not None and config[first] != call.args[0].value:
                return False
    return True


def _loaded_files() -> list[str]:
    """Files of the user's imported modules."""
    found = []
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if (
            isinstance(file, str)
            and file.endswith(".py")
            and source.is_user_file(file)
            and "site-packages" not in file
            and "dist-packages" not in file
        ):
            found.append(file)
    return found[:400]


def _makes_variable(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and callee(node) in MAKERS


def _is_class(call: ast.Call) -> bool:
    return callee(call)[:1].isupper()


def _straight(calls: list[tuple[Module, ast.Call]]) -> bool:
    """Whether the calls stand in one scope, each on a line of its own."""
    scopes = {id(module.scopes.get(id(call))) for module, call in calls}
    return len(scopes) == 1 and len({call.lineno for _, call in calls}) == len(calls)


def _argument_place(module: Module, call: ast.Call, argument: str) -> Place:
    value = keyword(call, argument) if argument else None
    return place_in(module, value if value is not None else call)


def place_in(module: Module, node: Any) -> Place:
    """Where a node of a module stands."""
    return Place(module.file, node.lineno)


def only(found: Iterable[tuple[Module, Any]]) -> Place | None:
    """The place of these nodes if all stand on one line."""
    places = {(module.file, node.lineno) for module, node in found}
    return Place(*places.pop()) if len(places) == 1 else None
