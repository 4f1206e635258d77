"""Calls over one channel of grpc.aio, one after the other."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import grpc.aio
import uvloop


class SerialCaller:
    """Calls methods of one server and waits for each response."""

    def __init__(self, loop: asyncio.AbstractEventLoop, channel: grpc.aio.Channel) -> None:
        self._loop = loop
        self._channel = channel
        self._methods: dict[str, grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]] = {}

    def call(self, method: str, request: bytes) -> bytes:
        """Calls a method by its full name. Raises grpc.RpcError."""
        if method not in self._methods:
            self._methods[method] = self._channel.unary_unary(method)
        return self._loop.run_until_complete(self._awaited(method, request))

    async def _awaited(self, method: str, request: bytes) -> bytes:
        return await self._methods[method](request)


@contextmanager
def serial_caller(address: str) -> Iterator[SerialCaller]:
    """A caller of the server at an address, on an event loop of uvloop."""
    loop = uvloop.new_event_loop()
    asyncio.set_event_loop(loop)
    channel = grpc.aio.insecure_channel(address)
    yield SerialCaller(loop, channel)
    loop.run_until_complete(channel.close())
    asyncio.set_event_loop(None)
    loop.close()
