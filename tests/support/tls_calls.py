"""Calls over TLS connections of a test's own making: unlike gRPC's clients, they tell whether a session was resumed."""

import base64
import socket
import ssl
from struct import pack
from types import TracebackType
from typing import NamedTuple, Self

import grpc
import h2.config
import h2.connection
import h2.events
from google.rpc import error_details_pb2, status_pb2

from support.certificates import Certificate
from support.patience import PATIENCE_SECONDS

_STATUSES = {code.value[0]: code for code in grpc.StatusCode}


class Ending(NamedTuple):
    """How a call ended: its status, and the reason and rule that the server gives."""

    status: grpc.StatusCode
    reason: str = ""
    rule: str = ""


class TlsCaller:
    """Somebody with a certificate; what is resumed are sessions of the same caller."""

    def __init__(self, identity: Certificate) -> None:
        self._context = ssl.create_default_context(cafile=str(identity.authority))
        self._context.load_cert_chain(identity.certificate, identity.key)
        self._context.set_alpn_protocols(["h2"])

    def connect(self, address: str, session: ssl.SSLSession | None = None) -> "TlsConnection":
        """A new connection, for which the server is asked to resume the session, if one is given."""
        host, _, port = address.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS) as plain:
            return TlsConnection(self._context.wrap_socket(plain, server_hostname=host, session=session))


class TlsConnection:
    """An HTTP/2 connection; a context manager that closes it."""

    def __init__(self, connected: ssl.SSLSocket) -> None:
        self._socket = connected
        self._http2 = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self._http2.initiate_connection()
        self._flush()

    @property
    def resumed(self) -> bool:
        """Whether the server has resumed the session that it was asked to."""
        return bool(self._socket.session_reused)

    @property
    def session(self) -> ssl.SSLSession:
        """What a later connection may resume; known once a call was answered."""
        assert self._socket.session is not None
        return self._socket.session

    def call(self, method: str, message: bytes, *metadata: tuple[str, str]) -> Ending:
        """Makes a unary call."""
        stream = self._http2.get_next_available_stream_id()
        named = {":method": "POST", ":scheme": "https", ":path": method, ":authority": "localhost"}
        common = {"te": "trailers", "content-type": "application/grpc"}
        self._http2.send_headers(stream, [*named.items(), *common.items(), *metadata])
        self._http2.send_data(stream, pack(">BI", 0, len(message)) + message, end_stream=True)
        self._flush()
        headers: dict[str, str] = {}
        while "grpc-status" not in headers:
            received = self._socket.recv(65_536)
            if not received:
                raise ConnectionResetError("the server has closed the connection")
            for event in self._http2.receive_data(received):
                if isinstance(event, h2.events.ResponseReceived | h2.events.TrailersReceived):
                    headers |= {str(name): str(value) for name, value in event.headers or ()}
                elif isinstance(event, h2.events.DataReceived):
                    # Else the window of the connection is used up after some hundred answers, and the next never comes.
                    self._http2.acknowledge_received_data(event.flow_controlled_length or 0, event.stream_id or stream)
            self._flush()
        return _ending(headers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._socket.close()

    def _flush(self) -> None:
        self._socket.sendall(self._http2.data_to_send())


def _ending(headers: dict[str, str]) -> Ending:
    status = _STATUSES[int(headers["grpc-status"])]
    details = headers.get("grpc-status-details-bin", "")
    if not details:
        return Ending(status)
    packed = status_pb2.Status.FromString(base64.b64decode(details + "=" * (-len(details) % 4))).details[0]
    info = error_details_pb2.ErrorInfo.FromString(packed.value)
    return Ending(status, info.reason.removeprefix("ERROR_REASON_"), info.metadata["rule"])
