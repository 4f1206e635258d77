"""A proxy that gives a milvus-lite what it lacks: an encrypted port, and callers that it knows by their token.

It refuses as the proxy of Milvus does (`internal/proxy` there: the interceptors of authentication and privilege).
"""

import base64
import binascii
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from functools import partial

import grpc

from support.certificates import Certificate

_WORKERS = 32
_UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
_OF_GRPC = ("authorization", "grpc-", "user-agent", ":")


class MilvusGate(grpc.GenericRpcHandler):
    """Passes each unary call on to a milvus-lite, as bytes, if its token is `token`."""

    def __init__(self, milvus_port: int, token: str, identity: Certificate | None) -> None:
        """Listens on a free port of loopback; without `identity` the port is not encrypted."""
        self.token = token
        self.denied = ""
        """The method that the user may not call, by the end of its name."""
        self.calls = 0
        """How many calls were passed on."""
        self._milvus = grpc.insecure_channel(f"127.0.0.1:{milvus_port}", _UNLIMITED)
        self.server = grpc.server(futures.ThreadPoolExecutor(_WORKERS), [self], options=_UNLIMITED)
        if identity is None:
            self.port = self.server.add_insecure_port("127.0.0.1:0")
        else:
            pair = identity.key.read_bytes(), identity.certificate.read_bytes()
            self.port = self.server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([pair]))
        self.server.start()

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[bytes, bytes]":
        """Any method is handled."""
        return grpc.unary_unary_rpc_method_handler(partial(self._answer, handler_call_details.method))

    def close(self) -> None:
        """Ends the server at once."""
        self.server.stop(grace=None).wait()
        self._milvus.close()

    def _answer(self, method: str, request: bytes, context: grpc.ServicerContext) -> bytes:
        metadata = list(context.invocation_metadata())
        refusal = self._refusal(dict(metadata).get("authorization"))
        if refusal:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, refusal)
        if self.denied and method.endswith(self.denied):
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "permission deny to reader in the `default` database")
        self.calls += 1
        called: grpc.UnaryUnaryMultiCallable[bytes, bytes] = self._milvus.unary_unary(method)
        passed = tuple((key, value) for key, value in metadata if not key.startswith(_OF_GRPC))
        call = called.future(request, timeout=context.time_remaining(), metadata=passed)
        if call.code() is not grpc.StatusCode.OK:
            context.abort(call.code(), call.details() or "")
        return call.result()

    def _refusal(self, authorization: str | bytes | None) -> str:
        """Why a call is refused, "" if it is not."""
        if authorization is None:
            return "missing authorization in header"
        try:
            token = base64.b64decode(authorization, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return "invalid token format"
        if token == self.token:
            return ""
        wrong = "username and password are" if ":" in token else "api key is"
        return f"auth check failure, please check {wrong} correct"


@contextmanager
def milvus_gate(milvus_port: int, token: str, identity: Certificate | None = None) -> Iterator[MilvusGate]:
    """A gate of the milvus-lite at that port for as long as the context is open."""
    gate = MilvusGate(milvus_port, token, identity)
    try:
        yield gate
    finally:
        gate.close()
