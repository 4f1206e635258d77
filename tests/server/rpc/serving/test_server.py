"""Health, reflection and the server's end."""

import asyncio
import threading
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import TYPE_CHECKING
from unittest.mock import Mock

import grpc
import pytest
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from groundwire.v1 import retrieval_pb2, retrieval_pb2_grpc
from groundwire_server.domain.search.search import SearchRequest, SearchResult, SearchType
from groundwire_server.execution.call import Checkpoint
from groundwire_server.rpc.serving import server as server_module
from support.calls import as_part
from support.patience import PATIENCE_SECONDS

if TYPE_CHECKING:
    from server.rpc.conftest import HealthOf, Serving

pytestmark = pytest.mark.asyncio

OWN_SERVICES = ["groundwire.v1.IndexService", "groundwire.v1.QueryService", "groundwire.v1.RetrievalService"]
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


async def listed_services(address: str) -> list[str]:
    async def questions() -> AsyncIterator[reflection_pb2.ServerReflectionRequest]:
        yield reflection_pb2.ServerReflectionRequest(list_services="")

    async with grpc.aio.insecure_channel(address) as channel:
        method: grpc.aio.StreamStreamMultiCallable[
            reflection_pb2.ServerReflectionRequest, reflection_pb2.ServerReflectionResponse
        ] = channel.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
            reflection_pb2.ServerReflectionRequest.SerializeToString,
            reflection_pb2.ServerReflectionResponse.FromString,
        )
        answers = [answer async for answer in method(questions())]
    return [service.name for service in answers[0].list_services_response.service]


@pytest.mark.parametrize("service", ["", *OWN_SERVICES, "readiness", "liveness"])
async def test_health_is_told_for_each_service_on_both_ports(
    serving: "Serving", health_of: "HealthOf", service: str
) -> None:
    async with serving(health_listen="127.0.0.1:0") as server:
        for address in (server.address, server.health_address):
            async with grpc.aio.insecure_channel(address) as channel:
                assert await health_of(channel, service) == SERVING


async def test_the_health_port_answers_nothing_else(
    serving: "Serving", search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    async with (
        serving(health_listen="127.0.0.1:0") as server,
        grpc.aio.insecure_channel(server.health_address) as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search_request)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_without_a_health_port_there_is_none(serving: "Serving") -> None:
    async with serving() as server:
        assert server.health_address == ""


async def test_reflection_lists_the_services_unless_it_is_switched_off(serving: "Serving") -> None:
    async with serving() as server:
        assert sorted(await listed_services(server.address)) == [
            *OWN_SERVICES,
            "grpc.health.v1.Health",
            "grpc.reflection.v1alpha.ServerReflection",
        ]
    async with serving(reflection=False) as server:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await listed_services(server.address)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_a_drain_tells_health_first_takes_calls_in_the_pause_and_finishes_those_under_way(
    serving: "Serving",
    health_of: "HealthOf",
    engine: Mock,
    search_request: retrieval_pb2.SearchNodesRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    release, started = threading.Event(), threading.Event()
    pause_began, pause_is_over = asyncio.Event(), asyncio.Event()

    async def pause(seconds: float) -> None:
        assert seconds == 7
        pause_began.set()
        await pause_is_over.wait()

    def slow_search(_: SearchRequest, checkpoint: Checkpoint) -> SearchResult:
        started.set()
        while not release.wait(0.01):
            checkpoint()
        return SearchResult((), "v1", SearchType.BM25)

    engine.search.side_effect = as_part(slow_search)
    settings = {"health_listen": "127.0.0.1:0", "drain_pause_seconds": 7, "drain_grace_seconds": PATIENCE_SECONDS}
    monkeypatch.setattr(server_module, "asyncio", SimpleNamespace(sleep=pause))
    async with (
        serving(**settings) as server,
        grpc.aio.insecure_channel(server.address) as channel,
        grpc.aio.insecure_channel(server.health_address) as health_channel,
    ):
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        under_way = asyncio.ensure_future(stub.SearchNodes(search_request))
        assert await asyncio.to_thread(started.wait, PATIENCE_SECONDS)
        draining = asyncio.create_task(server.drain())
        await asyncio.wait_for(pause_began.wait(), PATIENCE_SECONDS)
        for service in ("", *OWN_SERVICES, "readiness"):
            assert await health_of(health_channel, service) == NOT_SERVING
            assert await health_of(channel, service) == NOT_SERVING
        assert await health_of(channel, "liveness") == SERVING
        walk = retrieval_pb2.ExpandDependencyTreeRequest(scope=search_request.scope)
        assert (await stub.ExpandDependencyTree(walk)).index == "v1"
        pause_is_over.set()
        code = grpc.StatusCode.OK
        async with asyncio.timeout(PATIENCE_SECONDS):
            while code is not grpc.StatusCode.UNAVAILABLE:  # gRPC may cancel a call that comes in this very moment
                async with grpc.aio.insecure_channel(server.address) as late:
                    code = await retrieval_pb2_grpc.RetrievalServiceStub(late).ExpandDependencyTree(walk).code()
        assert not draining.done()
        assert await health_of(health_channel) == NOT_SERVING
        release.set()
        assert (await under_way).index == "v1"
        await asyncio.wait_for(draining, PATIENCE_SECONDS)


@pytest.mark.parametrize("end", ["drain", "stop"])
async def test_what_outlasts_the_grace_is_cancelled_and_its_work_stops(
    serving: "Serving", engine: Mock, search_request: retrieval_pb2.SearchNodesRequest, end: str
) -> None:
    started, over = threading.Event(), threading.Event()

    def endless_search(_: SearchRequest, checkpoint: Checkpoint) -> SearchResult:
        started.set()
        try:
            while True:
                checkpoint()
        finally:
            over.set()

    engine.search.side_effect = as_part(endless_search)
    settings = {"drain_pause_seconds": 0, "drain_grace_seconds": 0.2}
    async with serving(**settings) as server, grpc.aio.insecure_channel(server.address) as channel:
        call = asyncio.ensure_future(retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search_request))
        assert await asyncio.to_thread(started.wait, PATIENCE_SECONDS)
        await asyncio.wait_for(getattr(server, end)(), PATIENCE_SECONDS)
        assert await asyncio.to_thread(over.wait, PATIENCE_SECONDS)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call
    assert caught.value.code() in (grpc.StatusCode.CANCELLED, grpc.StatusCode.UNAVAILABLE)


async def test_watchers_of_health_are_told_of_a_drain_and_do_not_delay_it(serving: "Serving") -> None:
    def watch(
        channel: grpc.aio.Channel, service: str
    ) -> "grpc.aio.UnaryStreamCall[health_pb2.HealthCheckRequest, health_pb2.HealthCheckResponse]":
        method: grpc.aio.UnaryStreamMultiCallable[health_pb2.HealthCheckRequest, health_pb2.HealthCheckResponse]
        method = channel.unary_stream(
            "/grpc.health.v1.Health/Watch",
            health_pb2.HealthCheckRequest.SerializeToString,
            health_pb2.HealthCheckResponse.FromString,
        )
        return method(health_pb2.HealthCheckRequest(service=service), timeout=20)

    settings = {"drain_pause_seconds": 0, "drain_grace_seconds": 60}
    async with serving(**settings) as server, grpc.aio.insecure_channel(server.address) as channel:
        watches = {service: watch(channel, service) for service in ("", OWN_SERVICES[0], "liveness", "unknown")}
        leaver = watch(channel, "")
        first = {service: (await anext(aiter(call))).status for service, call in watches.items()}
        await anext(aiter(leaver))
        leaver.cancel()
        await asyncio.wait_for(server.drain(), PATIENCE_SECONDS)
        rest = {service: [response.status async for response in call] for service, call in watches.items()}
    unknown = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
    assert first == {"": SERVING, OWN_SERVICES[0]: SERVING, "liveness": SERVING, "unknown": unknown}
    assert rest == {"": [NOT_SERVING], OWN_SERVICES[0]: [NOT_SERVING], "liveness": [], "unknown": []}


async def test_a_server_whose_indexes_cannot_be_read_is_alive_but_not_ready_and_says_when_it_is_again(
    serving: "Serving", health_of: "HealthOf", indexes: Mock
) -> None:
    async def becomes(channel: grpc.aio.Channel, status: int) -> None:
        while await health_of(channel, "readiness") != status:
            await asyncio.sleep(0.01)

    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        indexes.check_readable.side_effect = FileNotFoundError(2, "No such file or directory", "/data")
        await asyncio.wait_for(becomes(channel, NOT_SERVING), PATIENCE_SECONDS)
        for service in ("", *OWN_SERVICES):
            assert await health_of(channel, service) == NOT_SERVING
        assert await health_of(channel, "liveness") == SERVING
        indexes.check_readable.side_effect = None
        await asyncio.wait_for(becomes(channel, SERVING), PATIENCE_SECONDS)


async def test_the_health_of_an_unknown_service_is_not_found(serving: "Serving", health_of: "HealthOf") -> None:
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await health_of(channel, "groundwire.v1.Nonsense")
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
