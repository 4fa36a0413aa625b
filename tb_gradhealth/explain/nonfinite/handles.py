"""By which resource handles TensorFlow knows a variable."""

from typing import Any

from tb_gradhealth.explain.variables import raw


def handles_of(variable: Any) -> list[Any]:
    """The resource handles of a variable of TensorFlow or Keras, one for each replica."""
    variable = raw(variable)
    parts = getattr(variable, "values", None)
    if isinstance(parts, tuple):  # a distributed variable
        return [part.handle for part in parts if hasattr(part, "handle")]
    handle = getattr(variable, "handle", None)
    return [] if handle is None else [handle]
