"""The arguments that all ways of recording share, checked: what was wrong, what was received, what to do."""

from collections.abc import Collection
from typing import Any


def checked_every(every: Any) -> int | str:
    """The argument `every`, or a `ValueError` that says what it should be."""
    if every == "auto" or (isinstance(every, int) and not isinstance(every, bool) and every >= 1):
        return every  # type: ignore[no-any-return]
    raise ValueError(
        f'`every` must be "auto" or a number of steps, at least 1. Received: every={every!r}. Every step is watched '
        'whatever it is; it only says how many steps one stored record sums up. Leave it at "auto" if in doubt.'
    )


def checked_ignore(ignore: Any) -> frozenset[str]:
    """The argument `ignore`, or a `TypeError` that says what it should be."""
    if isinstance(ignore, str) or not isinstance(ignore, Collection) or not all(isinstance(n, str) for n in ignore):
        raise TypeError(
            "`ignore` must be a list of names of variables or layers that are expected to get no gradient. "
            f"Received: ignore={ignore!r}. Write it like ignore=['encoder/embeddings']."
        )
    return frozenset(ignore)
