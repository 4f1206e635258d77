"""What surrounds every call: request id, error mapping, and the account of it for operators."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from groundwire.v1 import errors_pb2, query_pb2, retrieval_pb2
from groundwire_server.domain.errors import FieldViolation, InvalidRequestError, Reason
from groundwire_server.domain.observation import observed_by
from groundwire_server.rpc.error_table import DETAILS_KEY, wire_error
from groundwire_server.rpc.telemetry.call_record import Outcome
from groundwire_server.rpc.telemetry.headers import REQUEST_ID_KEY
from groundwire_server.rpc.telemetry.telemetry import Telemetry

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from grpc import RpcMethodHandler as Handler  # generic in its stubs, not at run time

Request = TypeVar("Request")
Response = TypeVar("Response")

Admit: TypeAlias = "Callable[[str, float | None], None]"

_OWN_SERVICES = "/groundwire."
_CANCELLED_REASON = errors_pb2.ErrorReason.Name(errors_pb2.ERROR_REASON_CANCELLED)
_DEADLINE_REASON = errors_pb2.ErrorReason.Name(errors_pb2.ERROR_REASON_DEADLINE_EXCEEDED)
# gRPC cancels a call whose deadline passes, up to a few milliseconds before the clock says so.
_DEADLINE_SLACK_SECONDS = 0.01


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Surrounds the calls of Groundwire's own services, all of them unary; health and reflection pass by."""

    def __init__(self, telemetry: Telemetry, admit: Admit) -> None:
        """`admit` raises LimitError when the server can take on no call of a method now.

        It is asked before anything is done for a call: what a refusal costs decides how much work an overloaded
        server still does.
        """
        self._telemetry = telemetry
        self._admit = admit

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
        call = self._telemetry.began(method, context)
        request_id = call.headers.request_id
        behaviour = cast(
            "Callable[[Request, grpc.aio.ServicerContext[Request, Response]], Awaitable[Response]]",
            handler.unary_unary,
        )
        try:
            self._admit(call.method_name, context.time_remaining())
            parsed = _parse(handler, request)
            self._telemetry.asked(call, parsed)
            with observed_by(call):
                response = await behaviour(parsed, context)
        except asyncio.CancelledError:
            self._telemetry.ended(call, _given_up(context.time_remaining()))
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller gets a status and the log the rest
            told = wire_error(error, request_id)
            self._telemetry.ended(call, Outcome(told.code, told.reason, error=error))
            await context.abort(told.code, told.message, ((REQUEST_ID_KEY, request_id), (DETAILS_KEY, told.details)))
        context.set_trailing_metadata(((REQUEST_ID_KEY, request_id),))
        self._telemetry.ended(call, Outcome(grpc.StatusCode.OK, index=_index(response)))
        return response


def _parse(handler: "Handler[Request, Response]", request: bytes) -> Request:
    deserialize = cast("Callable[[bytes], Request]", handler.request_deserializer)
    try:
        return deserialize(request)
    except DecodeError:
        description = "the bytes are no message of this method; build client and server from the same contract"
        raise InvalidRequestError((FieldViolation("request", Reason.VALUE_MALFORMED, description),)) from None


def _given_up(seconds_remaining: float | None) -> Outcome:
    """The caller cancelled, or its deadline passed."""
    if seconds_remaining is not None and seconds_remaining < _DEADLINE_SLACK_SECONDS:
        return Outcome(grpc.StatusCode.DEADLINE_EXCEEDED, _DEADLINE_REASON)
    return Outcome(grpc.StatusCode.CANCELLED, _CANCELLED_REASON)


def _index(response: object) -> str:
    """The index version that answered, where one did."""
    if isinstance(
        response,
        retrieval_pb2.SearchNodesResponse
        | retrieval_pb2.ExpandDependencyTreeResponse
        | retrieval_pb2.FetchNodeTextsResponse
        | query_pb2.QueryResponse,
    ):
        return response.index
    return ""
