"""Reading through a data provider that is loading, gone, or refuses."""

from typing import Any

import numpy as np
import pytest
from serve_world import OK, FakeProvider, schema, steps, where
from tensorboard import errors
from tensorboard.data import provider as tb_provider

from tb_gradhealth.serve import source as module
from tb_gradhealth.serve.source import Series, Source, UnavailableError


@pytest.fixture(autouse=True)
def no_pause(monkeypatch) -> None:
    monkeypatch.setattr(module, "_PAUSE_SECONDS", 0)


@pytest.fixture
def provider() -> FakeProvider:
    provider = FakeProvider()
    writer = provider.writer("b")
    writer.schema(schema(["k"]))
    writer.records(steps(0, np.full((3, 1), OK)), "adam", 1_000)
    provider.stored["a"] = {}
    return provider


TAG = "records/adam/1000/000000"


def test_runs_are_sorted_and_series_say_how_far_they_got(provider) -> None:
    source = Source(provider)
    assert source.runs(where()) == ["a", "b"]
    assert source.series(where(), "b")["b"][TAG] == Series(2, 1004.0, b"1")
    assert source.series(where())["b"].keys() == {TAG, "schema/adam/1000"}
    assert source.series(where(), "a") == {}
    assert source.is_active(where())
    assert not Source(FakeProvider()).is_active(where())


def test_a_series_is_read_whole_and_alone(provider) -> None:
    asked: list[Any] = []
    read = provider.read_tensors

    def spy(ctx: Any = None, **request: Any) -> Any:
        asked.append(request)
        return read(ctx, **request)

    provider.read_tensors = spy
    elements = Source(provider).read(where(), "b", TAG)
    assert [(e.tag, e.step, e.wall_time) for e in elements] == [(TAG, i, 1002.0 + i) for i in range(3)]
    assert all(isinstance(e.payload, bytes) for e in elements)
    (request,) = asked
    assert request["downsample"] > 1_000_000  # 0 would mean nothing at all
    assert (request["run_tag_filter"].runs, request["run_tag_filter"].tags) == (frozenset({"b"}), frozenset({TAG}))


def test_a_provider_that_is_still_loading_is_asked_again(provider) -> None:
    provider.failures = [KeyError("records")] * 3
    assert len(Source(provider).read(where(), "b", TAG)) == 3
    provider.failures = [KeyError("records")] * 2
    assert Source(provider).series(where(), "b")
    provider.failures = [KeyError("records")] * 50
    assert Source(provider).series(where(), "b") == {}
    assert len(provider.failures) == 45


def test_what_is_not_there_is_empty(provider) -> None:
    assert Source(provider).read(where(), "b", "nope") == []
    assert Source(provider).read(where(), "nope", TAG) == []
    provider.failures = [errors.NotFoundError("gone")]
    assert Source(provider).read(where(), "b", TAG) == []


def test_a_provider_that_does_not_answer_is_an_error_with_a_sentence(provider) -> None:
    provider.failures = [ConnectionError("refused")]
    with pytest.raises(
        UnavailableError, match=r"data source does not answer \(ConnectionError\)\. If it does not come"
    ):
        Source(provider).runs(where())
    assert UnavailableError.http_code == 503


def test_the_providers_own_errors_pass(provider) -> None:
    provider.failures = [errors.PermissionDeniedError("not yours")]
    with pytest.raises(errors.PermissionDeniedError):
        Source(provider).runs(where())


class RpcError(Exception):
    def code(self) -> str:
        return "StatusCode.RESOURCE_EXHAUSTED"


def test_of_a_series_too_large_for_the_data_server_a_sample_is_read(provider) -> None:
    provider.failures = [RpcError(), RpcError()]
    assert [e.step for e in Source(provider).read(where(), "b", TAG)] == [0, 1, 2]
    provider.failures = [RpcError()] * 5
    assert [e.step for e in Source(provider).read(where(), "b", TAG)] == [2]
    provider.failures = [RpcError()] * 6
    with pytest.raises(UnavailableError):
        Source(provider).read(where(), "b", TAG)


def test_elements_that_are_no_message_are_passed_over(provider) -> None:
    data = provider.stored["b"][TAG]
    data.append(tb_provider.TensorDatum(5, 1.0, np.array([1.0, 2.0])))
    data.append(tb_provider.TensorDatum(6, 1.0, np.array(3.0)))
    assert len(Source(provider).read(where(), "b", TAG)) == 3
