"""Health as gRPC defines it (grpc.health.v1): whether to send calls here, and apart from that whether to restart.

It answers whoever reaches the port, so requests are bounded by number and time, watches by number and age. It does not
keep any part of a request.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterable, Iterable
from functools import partial
from typing import TypeAlias

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2

from groundwire_server.domain.errors import DeadlineError, GroundwireError
from groundwire_server.rpc.bodies import Places, malformed, parse, receive
from groundwire_server.rpc.error_table import STATUS_CODES

LIVENESS = "liveness"
READINESS = "readiness"

MAX_NAME_CHARACTERS = 256
RECEIVE_SECONDS = 5.0
MAX_RECEIVING = 16
"""The most requests received at a time; a further one ends the oldest."""
MAX_WATCHES = 1_000
"""The most watches at a time; a further one ends the oldest."""
MAX_WATCHES_OF_A_CONNECTION = 8
WATCH_SECONDS = 3_600.0
"""The longest time of a watch; the client may then begin another."""

_TOO_MANY_WATCHES = f"at most {MAX_WATCHES_OF_A_CONNECTION} watches of a connection are answered; end one first"
_SERVICE = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
_UNKNOWN = health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVICE_UNKNOWN)
_SERVING = health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVING)
_NOT_SERVING = health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.NOT_SERVING)

_Context: TypeAlias = grpc.aio.ServicerContext[bytes, health_pb2.HealthCheckResponse]
_Refusal: TypeAlias = tuple[grpc.StatusCode, str]


class HealthService:
    """Answers for the server as a whole (the empty name), for each of `services`, and for two names of its own.

    `readiness` and all the others but `liveness` are SERVING while the indexes can be read and until the server
    drains. An overloaded server stays ready: it answers as much as it can, and were it taken out of the rotation, its
    load would fall upon the rest. `liveness` is SERVING for as long as the event loop turns, also during a drain.

    The library's own servicer never ends a watch, so a draining server would wait out its grace period for each client
    that watches. Here a watch ends after it has reported the status of its service during the drain.
    """

    def __init__(
        self, services: Iterable[str], max_watches: int = MAX_WATCHES, watch_seconds: float = WATCH_SECONDS
    ) -> None:
        self._max_watches = max_watches
        self._watch_seconds = watch_seconds
        self._services = frozenset(("", READINESS, *services))
        self._readable = True
        self._drains = False
        self._changed = asyncio.Event()
        self._bounds: list[_Bounds] = []

    def handler(self) -> grpc.GenericRpcHandler:
        """The handlers of the service's methods on one server. The bounds of each server are its own."""
        bounds = _Bounds(self._max_watches)
        self._bounds.append(bounds)
        check, watch = partial(self._check, bounds), partial(self._watch, bounds)
        serializer = health_pb2.HealthCheckResponse.SerializeToString
        return grpc.method_handlers_generic_handler(
            _SERVICE,
            {
                "Check": grpc.stream_unary_rpc_method_handler(check, response_serializer=serializer),
                "Watch": grpc.stream_stream_rpc_method_handler(watch, response_serializer=serializer),
            },
        )

    @property
    def watches(self) -> int:
        """How many streams watch."""
        return sum(bounds.of_connections.total() for bounds in self._bounds)

    def drain(self) -> None:
        """Sets every service to not ready, and notifies every watcher."""
        self._drains = True
        self._tell_watchers()

    def set_readable(self, readable: bool) -> None:
        """True if the indexes can be read."""
        self._readable = readable
        self._tell_watchers()

    async def _check(
        self, bounds: "_Bounds", requests: AsyncIterable[bytes], context: _Context
    ) -> health_pb2.HealthCheckResponse:
        """The service's status now; NOT_FOUND for a service that is not here."""
        del requests  # it leads back to the call, as the context does; `CallHandler` says why that matters
        status, refusal = _UNKNOWN, None
        try:
            name = await _name(bounds.receiving, context)
            status = self._status(name)
            if status is _UNKNOWN:
                refusal = grpc.StatusCode.NOT_FOUND, f"no service {name!r}"
        except GroundwireError as error:
            refusal = _refusal(error)
        if refusal is None:
            return status
        try:
            await context.abort(*refusal)
        finally:
            del context

    async def _watch(self, bounds: "_Bounds", requests: AsyncIterable[bytes], context: _Context) -> None:
        """The service's status now and when it changes; SERVICE_UNKNOWN for a service that is not here."""
        del requests
        refusal = None
        peer = context.peer()
        try:
            name = await _name(bounds.receiving, context)
            if bounds.of_connections[peer] >= MAX_WATCHES_OF_A_CONNECTION:
                refusal = grpc.StatusCode.RESOURCE_EXHAUSTED, _TOO_MANY_WATCHES
            else:
                await self._watch_until_due(bounds, name, peer, context)
        except GroundwireError as error:
            refusal = _refusal(error)
        if refusal is None:
            return
        try:
            await context.abort(*refusal)
        finally:
            del context

    async def _watch_until_due(self, bounds: "_Bounds", name: str, peer: str, context: _Context) -> None:
        bounds.of_connections[peer] += 1
        try:
            async with bounds.watches.taken(self._watch_seconds):
                await self._tell_changes(name, context)
        except DeadlineError:
            pass  # the stream ends in order, and its caller may begin another
        finally:
            bounds.of_connections -= Counter((peer,))

    async def _tell_changes(self, name: str, context: _Context) -> None:
        last_sent: health_pb2.HealthCheckResponse | None = None
        while True:
            changed, status, drains = self._changed, self._status(name), self._drains
            if status is not last_sent:
                await context.write(status)
                last_sent = status
            if drains:
                return
            await changed.wait()

    def _tell_watchers(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _status(self, service: str) -> health_pb2.HealthCheckResponse:
        if service == LIVENESS:
            return _SERVING
        if service not in self._services:
            return _UNKNOWN
        return _SERVING if self._readable and not self._drains else _NOT_SERVING


class _Bounds:
    """The requests and watches of one server's callers; `of_connections` counts watches by peer address."""

    def __init__(self, max_watches: int) -> None:
        self.receiving = Places(MAX_RECEIVING)
        self.watches = Places(max_watches)
        self.of_connections: Counter[str] = Counter()


async def _name(receiving: Places, context: _Context) -> str:
    """The service that is asked for. Raises GroundwireError."""
    async with receiving.taken(RECEIVE_SECONDS):
        body = await receive(context, None)
    name = parse(health_pb2.HealthCheckRequest.FromString, body).service
    if len(name) > MAX_NAME_CHARACTERS:
        raise malformed("service", f"has {len(name)} characters; no service has more than {MAX_NAME_CHARACTERS}")
    return name


def _refusal(error: GroundwireError) -> _Refusal:
    return STATUS_CODES[error.reason], error.message
