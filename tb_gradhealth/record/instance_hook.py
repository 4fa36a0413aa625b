"""Replacing a method on one instance, and taking it back without a trace.

The class is never touched, and neither is what the instance tracks, saves or serialises.
"""

from collections.abc import Callable
from typing import Any

_MISSING = object()


class InstanceHook:
    """One method of one instance, replaced until `remove`.

    Args:
      owner: the instance.
      name: the method's name.
      around: called as ``around(original, *args, **kwargs)``.
    """

    def __init__(self, owner: Any, name: str, around: Callable[..., Any]) -> None:
        self._owner = owner
        self._name = name
        self._before = vars(owner).get(name, _MISSING)
        original = getattr(owner, name)

        def hooked(*args: Any, **kwargs: Any) -> Any:
            return around(original, *args, **kwargs)

        self._hooked = hooked
        object.__setattr__(owner, name, hooked)

    def remove(self) -> None:
        """Puts back what was there. Does nothing if somebody has replaced the method since."""
        if vars(self._owner).get(self._name) is not self._hooked:
            return
        if self._before is _MISSING:
            object.__delattr__(self._owner, self._name)
        else:
            object.__setattr__(self._owner, self._name, self._before)
