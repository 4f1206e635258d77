"""What surrounds every call: request id, error mapping, and one line in the log.

A line names the method, how the call ended, how long it took and its request id. It never holds what was asked or
answered: no query, vector, id or text, nor an error's message, which may quote them. Only an unexpected exception
is logged with its traceback.
"""

import asyncio
import re
import time
import uuid
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

import grpc
import grpc.aio
import structlog
from google.protobuf.message import DecodeError
from structlog.typing import FilteringBoundLogger

from groundwire.v1 import errors_pb2, query_pb2, retrieval_pb2
from groundwire_server.domain.errors import FieldViolation, InvalidRequestError, PreconditionError, Reason
from groundwire_server.rpc.error_table import DETAILS_KEY, INTERNAL_REASON, WireError, wire_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from grpc import RpcMethodHandler as Handler  # generic in its stubs, not at run time

Request = TypeVar("Request")
Response = TypeVar("Response")

REQUEST_ID_KEY = "x-request-id"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_OWN_SERVICES = "/groundwire."
_CANCELLED_REASON = errors_pb2.ErrorReason.Name(errors_pb2.ERROR_REASON_CANCELLED)
_DEADLINE_REASON = errors_pb2.ErrorReason.Name(errors_pb2.ERROR_REASON_DEADLINE_EXCEEDED)
# gRPC cancels a call whose deadline passes, up to a few milliseconds before the clock says so.
_DEADLINE_SLACK_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class _CallLog:
    """The log line of one call that is under way."""

    log: FilteringBoundLogger
    method: str
    request_id: str
    started: float

    def answered(self, response: object) -> None:
        """The call ended well."""
        fields = self._fields("OK")
        if isinstance(
            response,
            retrieval_pb2.SearchNodesResponse
            | retrieval_pb2.ExpandDependencyTreeResponse
            | retrieval_pb2.FetchNodeTextsResponse
            | query_pb2.QueryResponse,
        ):
            fields["index"] = response.index
        self.log.info("call", **fields)

    def failed(self, error: Exception, told: WireError) -> None:
        """The call ended with an error; of a defect the log gets everything, the caller only the request id."""
        fields = self._fields(told.code.name, told.reason)
        if told.reason == INTERNAL_REASON:
            self.log.error("call", **fields, exc_info=error)
        elif isinstance(error, PreconditionError) and error.__cause__ is not None:
            self.log.error("call", **fields, cause=str(error.__cause__))
        else:
            self.log.info("call", **fields)

    def given_up(self, seconds_remaining: float | None) -> None:
        """The caller cancelled, or its deadline passed."""
        if seconds_remaining is not None and seconds_remaining < _DEADLINE_SLACK_SECONDS:
            self.log.info("call", **self._fields(grpc.StatusCode.DEADLINE_EXCEEDED.name, _DEADLINE_REASON))
        else:
            self.log.info("call", **self._fields(grpc.StatusCode.CANCELLED.name, _CANCELLED_REASON))

    def _fields(self, code: str, reason: str = "") -> dict[str, str | float]:
        milliseconds = (time.perf_counter() - self.started) * 1000
        fields: dict[str, str | float] = {"method": self.method, "code": code}
        if reason:
            fields["reason"] = reason
        return {**fields, "duration_ms": round(milliseconds, 3), "request_id": self.request_id}


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Surrounds the calls of Groundwire's own services, all of them unary; health and reflection pass by."""

    def __init__(self) -> None:
        self._log: FilteringBoundLogger = structlog.get_logger()

    async def intercept_service(
        self,
        continuation: "Callable[[grpc.HandlerCallDetails], Awaitable[Handler[Request, Response] | None]]",
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "Handler[Request, Response] | None":
        """The method's handler with all of the above around it."""
        handler = await continuation(handler_call_details)
        if handler is None or not handler_call_details.method.startswith(_OWN_SERVICES):
            return handler
        # The request is parsed inside `_answer` (hence no deserializer here), so that bytes which
        # are no message end in a typed error as everything else does.
        surrounded: Handler[bytes, Response] = grpc.unary_unary_rpc_method_handler(
            partial(self._answer, handler, handler_call_details.method.lstrip("/")),
            response_serializer=handler.response_serializer,
        )
        return cast("Handler[Request, Response]", surrounded)

    async def _answer(
        self,
        handler: "Handler[Request, Response]",
        method: str,
        request: bytes,
        context: grpc.aio.ServicerContext[Request, Response],
    ) -> Response:
        request_id = _request_id(context.invocation_metadata())
        call = _CallLog(self._log, method, request_id, time.perf_counter())
        behaviour = cast(
            "Callable[[Request, grpc.aio.ServicerContext[Request, Response]], Awaitable[Response]]",
            handler.unary_unary,
        )
        try:
            response = await behaviour(_parse(handler, request), context)
        except asyncio.CancelledError:
            call.given_up(context.time_remaining())
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller gets a status and the log the rest
            told = wire_error(error, request_id)
            call.failed(error, told)
            await context.abort(told.code, told.message, ((REQUEST_ID_KEY, request_id), (DETAILS_KEY, told.details)))
        context.set_trailing_metadata(((REQUEST_ID_KEY, request_id),))
        call.answered(response)
        return response


def _request_id(metadata: grpc.aio.Metadata | None) -> str:
    """The caller's own request id when it is fit for a log, else a new one."""
    for key, value in metadata or ():
        if key == REQUEST_ID_KEY and isinstance(value, str) and _REQUEST_ID.fullmatch(value):
            return value
    return uuid.uuid4().hex


def _parse(handler: "Handler[Request, Response]", request: bytes) -> Request:
    deserialize = cast("Callable[[bytes], Request]", handler.request_deserializer)
    try:
        return deserialize(request)
    except DecodeError:
        description = "the bytes are no message of this method; build client and server from the same contract"
        raise InvalidRequestError((FieldViolation("request", Reason.VALUE_MALFORMED, description),)) from None
