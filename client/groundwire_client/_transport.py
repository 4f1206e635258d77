"""How both clients make a call: address, deadline, metadata, token, retries, and errors with their types."""

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import Generic, Self, TypeVar, cast

import grpc
import grpc.aio

from groundwire.v1 import index_pb2_grpc, query_pb2_grpc, retrieval_pb2_grpc
from groundwire.v1.scope_pb2 import AccessContext
from groundwire_client._arguments import check_timeout, makes, of_type
from groundwire_client._channel import (
    CHANNEL_OPTIONS,
    TLS,
    channel_credentials,
    check_token_is_protected,
    server_address,
)
from groundwire_client._defaults import TIMEOUT
from groundwire_client._errors import error_from
from groundwire_client._token import AsyncToken, Token, authorization


def trace_metadata() -> Sequence[tuple[str, str]]:
    """The current OpenTelemetry context as metadata, W3C `traceparent` unless OTEL_PROPAGATORS says otherwise.

    Nothing where this process does not use OpenTelemetry: the client does not import it for a context that cannot be.
    """
    if "opentelemetry.trace" not in sys.modules:
        return ()
    from opentelemetry import propagate

    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return tuple((key.lower(), value) for key, value in carrier.items())


Metadata = Sequence[tuple[str, str | bytes]]
"""gRPC metadata: lower-case keys; values are bytes for keys that end in `-bin`, else ASCII text."""

_KEY = re.compile(r"[a-z0-9_.-]+")
_Request = TypeVar("_Request")
_Response = TypeVar("_Response")
_AnyToken = TypeVar("_AnyToken", bound=AsyncToken)


def _is_metadata(given: object) -> bool:
    return isinstance(given, Sequence) and all(map(_is_pair, cast("Sequence[object]", given)))


def _is_pair(pair: object) -> bool:
    match pair:
        case (str(key), str() | bytes()):
            return _KEY.fullmatch(key) is not None
        case _:
            return False


class _Connection(ABC, Generic[_AnyToken]):
    """The common part of both clients. It does not change, so threads and tasks may share it."""

    @makes
    def __init__(
        self,
        target: str | None = None,
        *,
        credentials: TLS | None = None,
        timeout: float = TIMEOUT,
        metadata: Metadata = (),
        token: _AnyToken | None = None,
        plaintext_token: bool = False,
        access: AccessContext | None = None,
        wait_for_ready: bool = False,
        check_values: bool = True,
    ) -> None:
        if access is not None:
            of_type("access", access, "of type AccessContext", AccessContext)
        check_timeout(timeout)
        if not _is_metadata(metadata):
            raise TypeError(
                "metadata must be a list of pairs, each of a lower-case key and a text (or bytes, for a key that ends "
                "in -bin), such as [('x-tenant-route', 'eu')]"
            )
        self._timeout = timeout
        self._own_metadata = tuple(metadata)
        self._token = token
        self._default_access = access
        self._wait_for_ready = wait_for_ready
        self._check_values = check_values
        self._is_closed = False
        if target is not None:
            of_type("target", target, "an address such as 'localhost:50051'", str)
        if not (token is None or isinstance(token, str) or callable(token)):
            raise TypeError(f"token must be a string or a function that returns one, not {type(token).__name__}")
        address, is_secured = server_address(target), credentials is not None
        has_token = token is not None or any(key.lower() == "authorization" for key, _ in metadata)
        check_token_is_protected(address, is_secured=is_secured, has_token=has_token, plaintext_token=plaintext_token)
        self._connect(address, None if credentials is None else channel_credentials(credentials))

    @abstractmethod
    def _connect(self, address: str, secured: grpc.ChannelCredentials | None) -> None:
        """Opens the channel, and makes the stubs over it."""

    def check_open(self) -> None:
        """Raises ValueError once the client is closed."""
        if self._is_closed:
            raise ValueError(f"this {type(self).__name__} is closed: call within its `with` block, or make a new one")

    def _metadata(self, token: str | None) -> tuple[tuple[str, str | bytes], ...]:
        given = self._own_metadata if token is None else (*self._own_metadata, authorization(token))
        return (*given, *trace_metadata())

    def _access(self, access: AccessContext | None) -> AccessContext | None:
        return self._default_access if access is None else access


class Transport(_Connection[Token]):
    """A connection to a Groundwire server. Threads may share it; use it as a context manager, or `close` it.

    Args:
        target: The server's address, such as `localhost:50051`; None takes the environment's GROUNDWIRE_SERVER.
        credentials: TLS files; None talks plaintext.
        timeout: Seconds until a call gives up, its retries included; each call may set its own.
        metadata: Sent with every call, such as `[("x-tenant-route", "eu")]`.
        token: The caller's bearer token, or a function that gives one for each call, such as a `TokenFile`.
            Without `credentials` it is sent unencrypted, so then the server must be on this machine.
        plaintext_token: Allow a token without TLS to another machine, because a mesh encrypts the connection.
        access: What the caller may see, for calls that do not say. None leaves it to the token or certificate; if the
            server asks for neither, only public nodes are visible.
        wait_for_ready: Let calls wait, up to their timeout, for a server that is out of reach, instead of failing.
        check_values: Warn (`UnknownValueWarning`) when a call finds nothing, and its filter or edge types have a value
            that the index does not have. It then asks the server what there is.

    Every call raises a subclass of `GroundwireError` when it fails, and `ValueError` or `TypeError` for arguments
    that cannot be sent. Reading calls are tried up to four times while the server is UNAVAILABLE.

    Raises:
        ValueError: No address, a timeout that is not positive and finite, or a token (also one in `metadata`) that
            would be sent unencrypted to another machine; at a call, a token that is none.
        TypeError: An argument is of a wrong type.
        OSError: A TLS file cannot be read.
    """

    def _connect(self, address: str, secured: grpc.ChannelCredentials | None) -> None:
        if secured is None:
            self._channel = grpc.insecure_channel(address, options=CHANNEL_OPTIONS)
        else:
            self._channel = grpc.secure_channel(address, secured, options=CHANNEL_OPTIONS)
        self._retrieval = retrieval_pb2_grpc.RetrievalServiceStub(self._channel)
        self._queries = query_pb2_grpc.QueryServiceStub(self._channel)
        self._indexes = index_pb2_grpc.IndexServiceStub(self._channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection; calls that still run end with `CancelledError`."""
        self._is_closed = True
        self._channel.close()

    def _call(
        self, method: "grpc.UnaryUnaryMultiCallable[_Request, _Response]", request: _Request, timeout: float | None
    ) -> _Response:
        try:
            return method(
                request,
                timeout=self._timeout if timeout is None else timeout,
                metadata=self._metadata(self._token() if callable(self._token) else self._token),
                wait_for_ready=self._wait_for_ready,
            )
        except grpc.RpcError as error:
            raise error_from(error) from error


class AsyncTransport(_Connection[AsyncToken]):
    """An asyncio connection to a Groundwire server: arguments, responses and errors are those of `GroundwireClient`.

    The function that returns the `token` may be a coroutine function here; any other is called in the event loop, and
    must be quick.

    Create it inside the event loop that uses it; tasks of that loop may share it. Use it with `async with`, or await
    its `close`. A cancelled task cancels its call and raises `asyncio.CancelledError`.
    """

    def _connect(self, address: str, secured: grpc.ChannelCredentials | None) -> None:
        if secured is None:
            self._channel = grpc.aio.insecure_channel(address, options=CHANNEL_OPTIONS)
        else:
            self._channel = grpc.aio.secure_channel(address, secured, options=CHANNEL_OPTIONS)
        self._retrieval = retrieval_pb2_grpc.RetrievalServiceStub(self._channel)
        self._queries = query_pb2_grpc.QueryServiceStub(self._channel)
        self._indexes = index_pb2_grpc.IndexServiceStub(self._channel)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connection; calls that still run end with `CancelledError`."""
        self._is_closed = True
        await self._channel.close()

    async def _call(
        self, method: "grpc.aio.UnaryUnaryMultiCallable[_Request, _Response]", request: _Request, timeout: float | None
    ) -> _Response:
        token = self._token() if callable(self._token) else self._token
        try:
            return await method(
                request,
                timeout=self._timeout if timeout is None else timeout,
                metadata=self._metadata(token if token is None or isinstance(token, str) else await token),
                wait_for_ready=self._wait_for_ready,
            )
        except grpc.RpcError as error:
            raise error_from(error) from error
