"""Watches of health: the oldest gives way to one more, each port has its own, and each ends after a while."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc.aio
import pytest

from groundwire_server.rpc.services.health_service import HealthService
from support.open_ended_calls import Connection

pytestmark = pytest.mark.asyncio
WATCH = "/grpc.health.v1.Health/Watch"


@asynccontextmanager
async def answering(health: HealthService) -> AsyncIterator[str]:
    """The address of a port on which the service answers."""
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((health.handler(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(None)


async def test_the_oldest_watch_ends_in_order_for_one_more_and_the_other_port_has_its_own() -> None:
    def watch(address: str, other_address: str) -> tuple[dict[int, str], dict[int, str]]:
        with Connection(address) as first, Connection(address) as second, Connection(other_address) as third:
            for connection, count in ((third, 1), (first, 3), (second, 3)):
                for _ in range(count):
                    connection.call(WATCH, b"")
                    connection.await_messages()
            first.await_ends(2)
            for connection in (first, second, third):
                connection.await_answer()
            assert second.ends == {}
            assert health.watches == 5
            return first.ends, third.ends

    health = HealthService((), max_watches=4)
    async with answering(health) as address, answering(health) as other_address:
        ends, on_the_other_port = await asyncio.to_thread(watch, address, other_address)
    assert ends == {1: "0", 3: "0"}
    assert on_the_other_port == {}


async def test_a_watch_ends_in_order_when_it_has_lasted_long_enough() -> None:
    def watch(address: str) -> dict[int, str]:
        with Connection(address) as connection:
            connection.call(WATCH, b"")
            connection.await_ends(1)
            return connection.ends

    async with answering(HealthService((), watch_seconds=0.2)) as address:
        assert await asyncio.to_thread(watch, address) == {1: "0"}
