"""The rows of a group: which variable and replica each is, and what is to be expected of it."""

import dataclasses
from collections.abc import Iterable

import numpy as np

from tb_gradhealth.format import gradhealth_pb2 as pb
from tb_gradhealth.format.windows import Array

ROLES = {
    pb.Variable.TRAINED: "trained",
    pb.Variable.FROZEN: "frozen",
    pb.Variable.NOT_HANDED_OVER: "not_handed_over",
    pb.Variable.UNTRACKED: "untracked",
}


_OFFSETS = ("bias", "beta", "gamma", "scale", "offset")


@dataclasses.dataclass(frozen=True)
class Layout:
    """Of a schema, what the rules need.

    Attributes:
      trained: bool ``[rows]``, handed to the optimizer.
      expected_none: bool ``[rows]``, the user said that it gets no gradient.
      kernels: indices of the trained variables that are matrices or more: int ``[kernels]``. Offsets and scales are
        left out, an attention's bias of two dimensions among them: their gradient may be 0 in theory and noise for
        ever.
      order: int ``[variables]``, place in forward order where the schema knows it of all kernels, else in the schema,
        whose order usually is that of the layers.
      depth: those of the kernels that are no embeddings, in that order.
    """

    schema: pb.Schema
    variables: int
    replicas: int
    trained: Array
    expected_none: Array
    kernels: Array
    order: Array
    depth: Array

    @classmethod
    def of(cls, schema: pb.Schema) -> "Layout":
        replicas = max(schema.replicas, 1)
        trained = np.array([v.role == pb.Variable.TRAINED for v in schema.variables], bool)
        expected = np.array([v.expected_none for v in schema.variables], bool)
        kernels = [i for i, v in enumerate(schema.variables) if trained[i] and not expected[i] and _is_kernel(v)]
        known = all(schema.variables[i].depth for i in kernels)
        order = np.array([v.depth if known else i for i, v in enumerate(schema.variables)], np.int64)
        inner = [i for i in kernels if "embedding" not in schema.variables[i].name.lower()]
        return cls(
            schema,
            len(schema.variables),
            replicas,
            np.tile(trained, replicas),
            np.tile(expected, replicas),
            np.array(kernels, np.intp),
            order,
            np.array(sorted(inner, key=lambda i: int(order[i])), np.intp),
        )

    @property
    def rows(self) -> int:
        return self.variables * self.replicas

    def variables_of(self, rows: Iterable[int]) -> tuple[int, ...]:
        """Indices of the variables of some rows, each once, in order of first appearance."""
        return tuple(dict.fromkeys(int(row) % self.variables for row in rows))

    def names_of(self, rows: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.schema.variables[v].name for v in self.variables_of(rows))

    def fold(self, values: Array) -> Array:
        """``[rows]`` as ``[replicas, variables]``."""
        return values.reshape(self.replicas, self.variables)


def _is_kernel(variable: pb.Variable) -> bool:
    last = variable.name.rsplit("/", 1)[-1].split(":")[0]
    return len(variable.shape) >= 2 and not any(last == word or last.endswith(f"_{word}") for word in _OFFSETS)
