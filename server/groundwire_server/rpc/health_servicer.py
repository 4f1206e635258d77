"""Health as gRPC defines it (grpc.health.v1): whether to send calls here, and apart from that whether to restart."""

import asyncio
from collections.abc import Iterable

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

LIVENESS = "liveness"
READINESS = "readiness"

_UNKNOWN = health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVICE_UNKNOWN)
_SERVING = health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVING)
_NOT_SERVING = health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.NOT_SERVING)


class HealthServicer(health_pb2_grpc.HealthServicer):
    """Answers for the server as a whole (the empty name), for each of `services`, and for two names of its own.

    `readiness` and all the others but `liveness` are SERVING while the indexes can be read and until the server
    drains. An overloaded server stays ready: it answers as much as it can, and were it taken out of the rotation, its
    load would fall upon the rest. `liveness` is SERVING for as long as the event loop turns, also during a drain.

    The library's own servicer never ends a watch, so that a draining server would wait out its grace for every client
    that watches; here a watch ends once it has told what the drain made of its service.
    """

    def __init__(self, services: Iterable[str]) -> None:
        self._services = frozenset(("", READINESS, *services))
        self._readable = True
        self._drains = False
        self._changed = asyncio.Event()

    def drain(self) -> None:
        """No service is ready from now on, and every watcher is told."""
        self._drains = True
        self._tell_watchers()

    def set_readable(self, readable: bool) -> None:
        """Whether the indexes can be read."""
        self._readable = readable
        self._tell_watchers()

    async def Check(
        self,
        request: health_pb2.HealthCheckRequest,
        context: grpc.aio.ServicerContext[health_pb2.HealthCheckRequest, health_pb2.HealthCheckResponse],
    ) -> health_pb2.HealthCheckResponse:
        """The service's status now; NOT_FOUND for a service that is not here."""
        status = self._status(request.service)
        if status is _UNKNOWN:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"no service {request.service!r}")
        return status

    async def Watch(
        self,
        request: health_pb2.HealthCheckRequest,
        context: grpc.aio.ServicerContext[health_pb2.HealthCheckRequest, health_pb2.HealthCheckResponse],
    ) -> None:
        """The service's status now and when it changes; SERVICE_UNKNOWN for a service that is not here."""
        told: health_pb2.HealthCheckResponse | None = None
        while True:
            changed, status, drains = self._changed, self._status(request.service), self._drains
            if status is not told:
                await context.write(status)
                told = status
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
