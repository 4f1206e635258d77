"""Watches of health: the oldest gives way to one more, and each port has its own."""

import asyncio
from typing import TYPE_CHECKING

import pytest

from groundwire_server.rpc.services import health_service
from support.open_ended_calls import Connection

if TYPE_CHECKING:
    from server.rpc.conftest import Serving

pytestmark = pytest.mark.asyncio
WATCH = "/grpc.health.v1.Health/Watch"


async def test_the_oldest_watch_ends_in_order_for_one_more_and_the_other_port_has_its_own(
    serving: "Serving", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health_service, "MAX_WATCHES", 4)

    def watch(address: str, health_address: str) -> tuple[dict[int, str], dict[int, str]]:
        with Connection(address) as first, Connection(address) as second, Connection(health_address) as third:
            third.call(WATCH, b"")
            third.pump(0.2)
            for connection in (first, second):
                for _ in range(3):
                    connection.call(WATCH, b"")
                    connection.pump(0.1)
            first.await_ends(2)
            for connection in (second, third):
                connection.pump(0.3)
            assert second.ends == {}
            return first.ends, third.ends

    async with serving(health_listen="127.0.0.1:0") as server:
        ends, on_the_other_port = await asyncio.to_thread(watch, server.address, server.health_address)
    assert ends == {1: "0", 3: "0"}
    assert on_the_other_port == {}


async def test_a_watch_ends_in_order_when_it_has_lasted_long_enough(
    serving: "Serving", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health_service, "WATCH_SECONDS", 0.2)

    def watch(address: str) -> dict[int, str]:
        with Connection(address) as connection:
            connection.call(WATCH, b"")
            connection.await_ends(1, 5)
            return connection.ends

    async with serving() as server:
        assert await asyncio.to_thread(watch, server.address) == {1: "0"}
