"""The optimizer's clipping, as the record tells of it: thresholds, and whether they acted on a step."""

import dataclasses
from typing import Any

import numpy as np

from tb_gradhealth.format.windows import Array


@dataclasses.dataclass(frozen=True)
class Clipping:
    """An optimizer's clipping thresholds; None where it does not clip that way.

    Attributes:
      norm: on the norm of each gradient.
      global_norm: on the norm of all gradients together.
      value: on each element.
    """

    norm: float | None = None
    global_norm: float | None = None
    value: float | None = None

    @classmethod
    def of(cls, optimizer: Any) -> "Clipping":
        """The thresholds of a Keras optimizer; those of its inner optimizer where it wraps one."""
        inner = getattr(optimizer, "inner_optimizer", optimizer)
        names = ("clipnorm", "global_clipnorm", "clipvalue")
        return cls(*(_number(getattr(inner, name, None)) for name in names))

    def acted(self, norms: Array, global_norm: Array) -> Array:
        """Whether a threshold on norms was exceeded: bool ``[steps]``, from ``[steps, variables]`` and ``[steps]``."""
        acted = np.zeros(len(norms), bool)
        if self.norm is not None:
            acted |= (np.nan_to_num(norms) > self.norm).any(-1)
        if self.global_norm is not None:
            acted |= np.nan_to_num(global_norm, posinf=0) > self.global_norm
        return acted


NO_CLIPPING = Clipping()


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
