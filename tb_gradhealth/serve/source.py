"""What TensorBoard has loaded of our series, through its data provider and nothing else.

Promises: one run and one tag per read, never sampled further; a provider that is still loading is asked again; one
that does not answer becomes an error with a sentence. Nothing is cached here.
"""

import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from tensorboard import errors
from tensorboard.data import provider as tb_provider

from tb_gradhealth.format.log import Stored
from tb_gradhealth.format.tags import PLUGIN_NAME

_T = TypeVar("_T")

_EVERYTHING = 2**31 - 1
"""Of `downsample`: more than any series holds. 0 would mean nothing at all."""
_FEWER = (256, 64, 16, 4, 1)
"""What is asked for where the data server refuses a series for its size."""
_TRIES = 5
_PAUSE_SECONDS = 0.05


@dataclasses.dataclass(frozen=True)
class Where:
    """Who asks, and for which experiment: what every call of a data provider wants.

    Attributes:
      context: TensorBoard's `RequestContext`.
      experiment: the experiment's id, usually empty.
    """

    context: Any
    experiment: str = ""


@dataclasses.dataclass(frozen=True)
class Series:
    """How far one of our series has got. As long as it is equal, the series has not changed.

    Attributes:
      max_step: largest step.
      max_wall_time: seconds since the epoch of the newest element.
      content: of the summary metadata: the format version in digits.
    """

    max_step: int
    max_wall_time: float
    content: bytes = b""


class UnavailableError(errors.PublicError):  # type: ignore[misc]
    """TensorBoard's own source of data does not answer (HTTP 503)."""

    http_code = 503


class Source:
    """Reads our series.

    Args:
      provider: TensorBoard's data provider.
    """

    def __init__(self, provider: tb_provider.DataProvider) -> None:
        self._provider = provider

    def is_active(self, where: Where) -> bool:
        """Whether any run has data of ours."""
        plugins: Iterable[str] = self._call(
            lambda: self._provider.list_plugins(where.context, experiment_id=where.experiment), default=()
        )
        return PLUGIN_NAME in (plugins or ())

    def runs(self, where: Where) -> list[str]:
        """Names of all runs, sorted, with and without data of ours."""
        runs: Iterable[Any] = self._call(
            lambda: self._provider.list_runs(where.context, experiment_id=where.experiment), default=()
        )
        return sorted(run.run_name for run in runs or ())

    def series(self, where: Where, run: str | None = None) -> dict[str, dict[str, Series]]:
        """Our series by run and tag, of all runs or of one."""
        wanted = tb_provider.RunTagFilter(runs=None if run is None else [run])
        listing: Mapping[str, Mapping[str, Any]] = self._call(
            lambda: self._provider.list_tensors(
                where.context, experiment_id=where.experiment, plugin_name=PLUGIN_NAME, run_tag_filter=wanted
            ),
            default={},
        )
        return {
            name: {
                tag: Series(int(series.max_step), float(series.max_wall_time), bytes(series.plugin_content))
                for tag, series in tags.items()
                if series.max_step is not None  # listed before its first element was there
            }
            for name, tags in (listing or {}).items()
        }

    def read(self, where: Where, run: str, tag: str) -> list[Stored]:
        """The elements of one series in the order in which they were stored; empty where there is no such series."""
        try:
            return self._read(where, run, tag, _EVERYTHING)
        except _TooLargeError:
            for count in _FEWER:
                try:
                    return self._read(where, run, tag, count)
                except _TooLargeError:
                    continue
            raise

    def _read(self, where: Where, run: str, tag: str, count: int) -> list[Stored]:
        found: Mapping[str, Mapping[str, Sequence[Any]]] = self._call(
            lambda: self._provider.read_tensors(
                where.context,
                experiment_id=where.experiment,
                plugin_name=PLUGIN_NAME,
                downsample=count,
                run_tag_filter=tb_provider.RunTagFilter(runs=[run], tags=[tag]),
            ),
            default={},
        )
        data = (found or {}).get(run, {}).get(tag, ())
        elements = ((d, d.numpy.item()) for d in data if d.numpy.size == 1)
        return [Stored(tag, int(d.step), float(d.wall_time), item) for d, item in elements if isinstance(item, bytes)]

    def _call(self, function: Callable[[], _T], default: _T) -> _T:
        for _ in range(_TRIES):
            try:
                return function()
            except KeyError:  # the Python loader lists a series a moment before it can be read
                time.sleep(_PAUSE_SECONDS)
            except errors.NotFoundError:
                return default
            except errors.PublicError:
                raise
            except Exception as error:
                if "RESOURCE_EXHAUSTED" in str(getattr(error, "code", lambda: "")()):
                    raise _TooLargeError(str(error)) from error
                raise UnavailableError(
                    f"TensorBoard's data source does not answer ({type(error).__name__}). If it does not come back, "
                    "restart TensorBoard."
                ) from error
        return default


class _TooLargeError(UnavailableError):
    """The answer exceeds what the data server may send."""
