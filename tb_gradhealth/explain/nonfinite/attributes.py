"""Attributes of a graph operation, in the form in which an eager execution takes them."""

import functools
from typing import Any

from tensorflow.core.framework import attr_value_pb2


def of_operation(op: Any) -> tuple[Any, ...]:
    """Name, value, name, value … of all attributes that the operation's definition declares."""
    flat: list[Any] = []
    values = op.node_def.attr
    for name, kind in _declared(op.op_def.SerializeToString()):
        if name in values:
            flat += [name, _plain(values[name], kind)]
    return tuple(flat)


@functools.lru_cache(maxsize=2048)
def _declared(op_def: bytes) -> tuple[tuple[str, str], ...]:
    from tensorflow.core.framework import op_def_pb2

    definition = op_def_pb2.OpDef.FromString(op_def)
    return tuple((attr.name, attr.type) for attr in definition.attr)


def _plain(value: attr_value_pb2.AttrValue, kind: str) -> Any:
    if kind.startswith("list("):
        return _plain_list(value.list, kind[5:-1])
    if kind == "shape":
        return _shape(value.shape)
    if kind == "func":
        return value.func.name
    if kind == "tensor":
        return value.tensor.SerializeToString()
    return getattr(value, _FIELD[kind])


_FIELD = {"int": "i", "float": "f", "bool": "b", "type": "type", "string": "s"}


def _plain_list(values: Any, kind: str) -> list[Any]:
    if kind == "shape":
        return [_shape(shape) for shape in values.shape]
    if kind == "func":
        return [function.name for function in values.func]
    return list(getattr(values, _FIELD[kind]))


def _shape(shape: Any) -> list[int] | None:
    return None if shape.unknown_rank else [dimension.size for dimension in shape.dim]
