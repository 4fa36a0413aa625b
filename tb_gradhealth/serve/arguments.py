"""What a request asks for, checked. Nothing from a request gets further unchecked."""

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

from tensorboard import errors

from tb_gradhealth.serve.tiles import METRICS

MAX_COLUMNS = 4096
MAX_VARIABLES = 32
MAX_SELECTED = 4096
MAX_NAME = 4096
_MAX_STEP = 2**53
"""Beyond, JSON and JavaScript can no longer tell steps apart."""
_INTEGER = re.compile(r"-?[0-9]{1,18}")
_SPAN = re.compile(r"([0-9]{1,10})-([0-9]{1,10})")


@dataclasses.dataclass(frozen=True)
class Arguments:
    """The arguments of one request, by their names in `http_api.md`.

    Every accessor raises `tensorboard.errors.InvalidArgumentError` (HTTP 400) for a value that makes no sense.
    """

    given: Mapping[str, str]

    @classmethod
    def of(cls, lists: Iterable[tuple[str, Sequence[str]]]) -> "Arguments":
        """From the values of each name in the query. Which of several is meant nobody knows: they are refused."""
        given = {}
        for name, values in lists:
            if len(values) > 1:
                raise _wrong(f"{name[:40]} must be given once. Received: {len(values)} times.")
            given[name] = values[0]
        return cls(given)

    @property
    def run(self) -> str:
        return self._name("run")

    @property
    def group(self) -> str:
        return self._name("group")

    @property
    def first(self) -> int | None:
        return self._step("first")

    @property
    def last(self) -> int | None:
        return self._step("last")

    @property
    def columns(self) -> int:
        return self._integer("columns", 1, MAX_COLUMNS, 1024)

    @property
    def metric(self) -> str:
        return self._choice("metric", METRICS)

    @property
    def smallest(self) -> bool:
        return self._choice("keep", ("worst", "smallest")) == "smallest"

    @property
    def replica(self) -> int | None:
        return self._integer("replica", 0, 2**31, 0) if "replica" in self.given else None

    @property
    def variable(self) -> int:
        if "variable" not in self.given:
            raise _wrong("variable is missing: give the index of a variable of the group.")
        return self._integer("variable", 0, 2**31, 0)

    @property
    def variables(self) -> list[int]:
        """At least one and at most `MAX_VARIABLES`, each once."""
        parts = [part for part in self.given.get("variables", "").split(",") if part]
        if not 1 <= len(parts) <= MAX_VARIABLES:
            raise _wrong(
                f"variables must be 1 to {MAX_VARIABLES} indices, like variables=0,4,7. Received: {len(parts)} of them."
            )
        return list(dict.fromkeys(self._parsed("variables", part, 0, 2**31) for part in parts))

    @property
    def selected(self) -> list[int] | None:
        """Of a matrix: the variables that are wanted, each once, at most `MAX_SELECTED`; None: all."""
        if "variables" not in self.given:
            return None
        text = self.given["variables"]
        found: dict[int, None] = {}
        for part in text.split(","):
            span = _SPAN.fullmatch(part)
            low, high = (span[1], span[2]) if span else (part, part)
            first, last = (self._parsed("variables", end, 0, 2**31) for end in (low, high))
            if not 0 <= last - first < MAX_SELECTED or len(found) + last - first >= MAX_SELECTED:
                raise _wrong(
                    f"variables must be at most {MAX_SELECTED} indices and rising ranges of them, like "
                    f"variables=0-31,40. Received: {text[:40]!r}."
                )
            found.update(dict.fromkeys(range(first, last + 1)))
        return list(found)

    def _name(self, name: str) -> str:
        text = self.given.get(name)
        if text is None or len(text) > MAX_NAME:
            raise _wrong(f"{name} is {'missing' if text is None else 'too long'}: give the name of a {name}.")
        return text

    def _step(self, name: str) -> int | None:
        return self._integer(name, -_MAX_STEP, _MAX_STEP, 0) if name in self.given else None

    def _integer(self, name: str, low: int, high: int, default: int) -> int:
        return self._parsed(name, self.given[name], low, high) if name in self.given else default

    def _parsed(self, name: str, text: str, low: int, high: int) -> int:
        if not _INTEGER.fullmatch(text) or not low <= int(text) <= high:
            raise _wrong(f"{name} must be whole numbers from {low} to {high}. Received: {text[:40]!r}.")
        return int(text)

    def _choice(self, name: str, choices: Sequence[str]) -> str:
        text = self.given.get(name, choices[0])
        if text not in choices:
            raise _wrong(f"{name} must be one of {', '.join(choices)}. Received: {text[:40]!r}.")
        return text


def _wrong(sentence: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(sentence)
