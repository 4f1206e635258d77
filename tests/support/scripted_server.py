"""A gRPC server with mutual TLS that answers as it is told, and keeps what reached it."""

import threading
from collections.abc import Iterator, Mapping
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from groundwire.v1 import retrieval_pb2
from support.certificates import Certificate

CHECKED_SERVICE = "groundwire.v1.RetrievalService"


@dataclass(slots=True)
class ScriptedServer(grpc.GenericRpcHandler):
    """Each call of Groundwire's services gets the next of `statuses`, then OK and an empty message."""

    address: str
    server: grpc.Server
    statuses: list[grpc.StatusCode] = field(default_factory=list[grpc.StatusCode])
    calls: list[tuple[str, Mapping[str, str | bytes]]] = field(
        default_factory=list[tuple[str, Mapping[str, str | bytes]]]
    )
    """Method and metadata of each call that came."""
    hold: threading.Event | None = None
    """Calls wait for it before they are answered."""

    def service(self, handler_call_details: Any) -> Any:
        method: str = handler_call_details.method
        return grpc.unary_unary_rpc_method_handler(lambda _, context: self._answer(method, context))

    def stop(self) -> None:
        """Ends the server at once; calls that are held get no answer."""
        if self.hold is not None:
            self.hold.set()
        self.server.stop(grace=None).wait()

    def _answer(self, method: str, context: grpc.ServicerContext) -> bytes:
        self.calls.append((method, dict(context.invocation_metadata())))
        if self.hold is not None:
            self.hold.wait(timeout=300)
        if self.statuses:
            context.abort(self.statuses.pop(0), "as told")
        return retrieval_pb2.SearchNodesResponse().SerializeToString()


@contextmanager
def scripted_server(identity: Certificate) -> Iterator[ScriptedServer]:
    """A server that listens while the context lasts and whose health is good."""
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=16))
    checks = health.HealthServicer()
    checks.set(CHECKED_SERVICE, health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    credentials = grpc.ssl_server_credentials(
        [(identity.key.read_bytes(), identity.certificate.read_bytes())],
        identity.authority.read_bytes(),
        require_client_auth=True,
    )
    script = ScriptedServer(f"127.0.0.1:{server.add_secure_port('127.0.0.1:0', credentials)}", server)
    server.add_generic_rpc_handlers((script,))
    server.start()
    try:
        yield script
    finally:
        script.stop()
