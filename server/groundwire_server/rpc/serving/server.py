"""The server's life: listen, answer, drain, stop."""

import asyncio
from typing import TYPE_CHECKING

import grpc.aio
from grpc_health.v1 import health_pb2

from groundwire.v1 import index_pb2, query_pb2, retrieval_pb2
from groundwire_index.backends import BACKENDS
from groundwire_server.backends.index_directory import IndexDirectory
from groundwire_server.config import Settings
from groundwire_server.rpc.admission.call_memory import CallMemory
from groundwire_server.rpc.audit import AuditLog
from groundwire_server.rpc.call_handler import CallHandler
from groundwire_server.rpc.calls import Calls
from groundwire_server.rpc.identity.access_control import AccessControl
from groundwire_server.rpc.identity.access_modes import make_authenticator
from groundwire_server.rpc.identity.authenticator import Authenticator
from groundwire_server.rpc.services.health_service import HealthService
from groundwire_server.rpc.services.index_servicer import IndexServicer
from groundwire_server.rpc.services.query_servicer import QueryServicer
from groundwire_server.rpc.services.reflection_service import ReflectionService
from groundwire_server.rpc.services.retrieval_servicer import RetrievalServicer
from groundwire_server.rpc.serving.readiness import Readiness
from groundwire_server.rpc.serving.transport import bind, health_options, load_credentials, server_options
from groundwire_server.rpc.telemetry.load import Load
from groundwire_server.rpc.telemetry.telemetry import Telemetry

if TYPE_CHECKING:
    from groundwire_server.engine.engine import RetrievalEngine

_RETRIEVAL_SERVICE = retrieval_pb2.DESCRIPTOR.services_by_name["RetrievalService"]
_QUERY_SERVICE = query_pb2.DESCRIPTOR.services_by_name["QueryService"]
_INDEX_SERVICE = index_pb2.DESCRIPTOR.services_by_name["IndexService"]
SERVICES = (_RETRIEVAL_SERVICE, _QUERY_SERVICE, _INDEX_SERVICE)
_NAMES = tuple(service.full_name for service in SERVICES)


class GroundwireServer:
    """Answers for an engine and an index directory until it is drained or stopped.

    Make it, start it and end it in one event loop. `address` and `health_address` are known once it is started;
    the latter stays empty when health has no port of its own (it is always answered on the main port too).
    A worker brings its own telemetry. An `authenticator` takes the place of the one that the settings ask for.
    """

    def __init__(
        self,
        settings: Settings,
        engine: "RetrievalEngine",
        indexes: IndexDirectory,
        telemetry: Telemetry | None = None,
        authenticator: Authenticator | None = None,
    ) -> None:
        self._settings = settings
        self.telemetry = telemetry or Telemetry(settings)
        self._calls = Calls(settings, BACKENDS[settings.backend].threads)
        self._authenticator = authenticator or make_authenticator(settings)
        self._audit = None if settings.audit == "off" else AuditLog(settings)
        self._memory = CallMemory(settings.call_memory_bytes)
        self._health = HealthService(_NAMES)
        self._readiness = Readiness(indexes.check_readable, self._health.set_readable)
        self._server = grpc.aio.server(options=server_options(settings))
        self._health_server = grpc.aio.server(options=health_options(settings))
        self._add_services(engine, indexes)
        self.address = ""
        self.health_address = ""

    async def start(self) -> None:
        """Listens and reports SERVING. Raises SettingsError when an address or a TLS file cannot be used."""
        await self._authenticator.start()
        await self.telemetry.start(self.load)
        credentials, shared = load_credentials(self._settings), self._settings.workers > 1
        self.address = bind(self._server, "listen", self._settings.listen, credentials, shared=shared)
        if self._settings.health_listen:
            # Without TLS: orchestrators' gRPC probes cannot use it, and health has no secrets.
            self.health_address = bind(
                self._health_server, "health_listen", self._settings.health_listen, None, shared=shared
            )
            await self._health_server.start()
        await self._server.start()
        self._readiness.start()

    async def ended(self) -> None:
        """Returns when gRPC has stopped accepting calls, and raises the cause if nothing requested the stop."""
        await self._server.wait_for_termination()

    async def drain(self, *, pauses: bool = True) -> None:
        """Ends without losing calls: NOT_SERVING, a pause in which load balancers notice, then a grace to finish.

        New calls are still answered during the pause, which only takes place if it `pauses`. Calls that are not done
        when the grace period ends are cancelled.
        """
        self._health.drain()
        if pauses:
            await asyncio.sleep(self._settings.drain_pause_seconds)
        await self._server.stop(self._settings.drain_grace_seconds)
        await self._stop_rest()

    async def stop(self) -> None:
        """Ends at once: calls under way are cancelled, and their work stops at its next checkpoint."""
        self._health.drain()
        await self._server.stop(None)
        await self._stop_rest()

    def load(self) -> Load:
        """What the server has on its hands now."""
        return Load(
            methods=self._calls.loads(),
            memory_bytes=self._memory.held_bytes,
            without_memory=self._memory.waiting,
            watches=self._health.watches,
            audit_failures=self._audit.failures if self._audit else 0,
        )

    async def _stop_rest(self) -> None:
        self._readiness.stop()
        await self._health_server.stop(None)
        await self._authenticator.stop()
        await self.telemetry.stop()
        self._calls.close()
        if self._audit:
            self._audit.close()

    def _add_services(self, engine: "RetrievalEngine", indexes: IndexDirectory) -> None:
        access_control = AccessControl(allow_admin=self._settings.allow_admin)
        handler = CallHandler(
            self.telemetry,
            self._audit,
            self._calls.admitted,
            self._authenticator,
            self._memory,
            self._settings.max_receive_bytes,
        )
        self._server.add_generic_rpc_handlers(
            (
                handler.service(_RETRIEVAL_SERVICE, RetrievalServicer(engine, access_control)),
                handler.service(_QUERY_SERVICE, QueryServicer(engine, access_control)),
                handler.service(_INDEX_SERVICE, IndexServicer(indexes, access_control)),
            )
        )
        for server in (self._server, self._health_server):
            server.add_generic_rpc_handlers((self._health.handler(),))
        if self._settings.reflection:
            names = (*_NAMES, health_pb2.DESCRIPTOR.services_by_name["Health"].full_name)
            self._server.add_generic_rpc_handlers((ReflectionService(names).handler,))
