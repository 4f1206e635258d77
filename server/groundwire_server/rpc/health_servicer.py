"""Health as gRPC defines it (grpc.health.v1): every service is SERVING until the server drains."""

import asyncio
from collections.abc import Iterable

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc


class HealthServicer(health_pb2_grpc.HealthServicer):
    """Answers for the server as a whole (the empty name) and for each of `services`.

    The library's own servicer never ends a watch, so that a draining server would wait out its grace for every client
    that watches; here a watch ends once it has told NOT_SERVING.
    """

    def __init__(self, services: Iterable[str]) -> None:
        self._services = frozenset(("", *services))
        self._drained = asyncio.Event()

    def drain(self) -> None:
        """Every service is NOT_SERVING from now on, and every watcher is told."""
        self._drained.set()

    async def Check(
        self,
        request: health_pb2.HealthCheckRequest,
        context: grpc.aio.ServicerContext[health_pb2.HealthCheckRequest, health_pb2.HealthCheckResponse],
    ) -> health_pb2.HealthCheckResponse:
        """The service's status now; NOT_FOUND for a service that is not here."""
        if request.service not in self._services:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"no service {request.service!r}")
        return self._status(request.service)

    async def Watch(
        self,
        request: health_pb2.HealthCheckRequest,
        context: grpc.aio.ServicerContext[health_pb2.HealthCheckRequest, health_pb2.HealthCheckResponse],
    ) -> None:
        """The service's status now and when it changes; SERVICE_UNKNOWN for a service that is not here."""
        if not self._drained.is_set():
            await context.write(self._status(request.service))
            await self._drained.wait()
        await context.write(self._status(request.service))

    def _status(self, service: str) -> health_pb2.HealthCheckResponse:
        if service not in self._services:
            return health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVICE_UNKNOWN)
        if self._drained.is_set():
            return health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.NOT_SERVING)
        return health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVING)
