"""Wraps every call: identity, request, error mapping and telemetry."""

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from groundwire.v1 import errors_pb2
from groundwire_server.domain.limits import request_memory
from groundwire_server.execution.observation import observed_by
from groundwire_server.rpc.admission.call_memory import CallMemory, HeldMemory
from groundwire_server.rpc.audit import AuditLog
from groundwire_server.rpc.bodies import CallContext, parse, receive
from groundwire_server.rpc.conversions.counts import check_counts
from groundwire_server.rpc.conversions.indexes import answering_index
from groundwire_server.rpc.conversions.scope import Request as AnyRequest
from groundwire_server.rpc.conversions.scope import named_scopes
from groundwire_server.rpc.error_table import DETAILS_KEY, wire_error
from groundwire_server.rpc.identity.authenticator import Authenticator
from groundwire_server.rpc.telemetry.call_record import REQUEST_ID_KEY, CallRecord, Outcome
from groundwire_server.rpc.telemetry.telemetry import Telemetry

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Awaitable, Callable
    from contextlib import AbstractContextManager

    from groundwire_server.rpc.calls import RunningCall

Admit: TypeAlias = "Callable[[str, str, float | None], AbstractContextManager[RunningCall]]"
Answer: TypeAlias = "Callable[[Any, RunningCall], Awaitable[Message]]"
"""A method of a servicer: gives the response to a request; raises GroundwireError."""

RECEIVE_SECONDS = 10.0
"""How long a request may take to arrive, once its call is admitted."""
SMALL_REQUEST_BYTES = 65_536
"""A request up to this length is parsed within a few milliseconds, whatever is in it."""
COPIES_OF_RESPONSE = 2
"""The bytes of a response, and gRPC's own copy until its caller has taken it."""
_CANCELLED_REASON = errors_pb2.ErrorReason.Name(errors_pb2.ERROR_REASON_CANCELLED)
_DEADLINE_REASON = errors_pb2.ErrorReason.Name(errors_pb2.ERROR_REASON_DEADLINE_EXCEEDED)
# gRPC cancels a call whose deadline passes, up to a few milliseconds before the clock says so.
_DEADLINE_SLACK_SECONDS = 0.01


class _Method(NamedTuple):
    """A method by its full name, `package.Service/Method`, the type of its requests, and the servicer's method."""

    name: str
    request: type[Message]
    answer: Answer


class CallHandler:
    """Handles the calls of Groundwire's own services, all of them unary.

    The headers decide who makes a call, and whether the server has room for it. Then its request is received, in memory
    that was put aside for it, parsed and counted.
    """

    def __init__(
        self,
        telemetry: Telemetry,
        audit: AuditLog | None,
        admit: Admit,
        authenticator: Authenticator,
        memory: CallMemory,
        max_receive_bytes: int,
    ) -> None:
        """`admit` raises LimitError when the server cannot accept a call of a method and a subject now.

        It is asked before the request is received: the cheaper a refusal, the more an overloaded server can still
        answer. A request is at most `max_receive_bytes` long and comes within RECEIVE_SECONDS.
        """
        self._telemetry = telemetry
        self._audit = audit
        self._admit = admit
        self._authenticator = authenticator
        self._memory = memory
        self._most_request_memory = request_memory(max_receive_bytes)
        self._parsing = asyncio.Lock()

    def service(self, service: ServiceDescriptor, servicer: object) -> grpc.GenericRpcHandler:
        """A service of the contract, which the servicer answers: it has a method of the same name for each of them."""
        handlers: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {}
        for described in service.methods:
            request = GetMessageClass(described.input_type)
            method = _Method(f"{service.full_name}/{described.name}", request, getattr(servicer, described.name))
            # Without serialisers: this reads, parses and serialises by itself, to know the sizes.
            handlers[described.name] = grpc.stream_unary_rpc_method_handler(partial(self._answer, method))
        return grpc.method_handlers_generic_handler(service.full_name, handlers)

    async def _answer(self, method: _Method, requests: "AsyncIterable[bytes]", context: CallContext) -> bytes:
        del requests  # it leads back to the call, as below
        call = self._telemetry.began(method.name, context)
        response, refusal = b"", None
        try:
            response = await self._respond(method, call, context)
        except asyncio.CancelledError:
            self._refuse(call, _given_up(context.time_remaining()))
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller gets a status and the log the rest
            refusal = wire_error(error, call.headers.request_id)
            self._refuse(call, Outcome(refusal.code, refusal.reason, error=error))
        request_id = ((REQUEST_ID_KEY, call.headers.request_id),)
        if refusal is None:
            context.set_trailing_metadata(request_id)
            return response
        # gRPC raises an error here that the call's state keeps. Of what its traceback keeps of this frame nothing may
        # lead back to that state: such a cycle would hold the call, its token included, until the collector runs.
        try:
            await context.abort(refusal.code, refusal.message, (*request_id, (DETAILS_KEY, refusal.details)))
        finally:
            del context

    async def _respond(self, method: _Method, call: CallRecord, context: CallContext) -> bytes:
        """The response's bytes, which are accounted for until they have been sent."""
        call.caller = await self._authenticator.authenticate(context)
        with self._admit(call.method_name, call.caller.subject, context.time_remaining()) as running_call:
            return await self._admitted(method, call, running_call, context)

    async def _admitted(
        self, method: _Method, call: CallRecord, running_call: "RunningCall", context: CallContext
    ) -> bytes:
        began = time.monotonic()
        held = await self._memory.hold(call.caller.subject, self._most_request_memory, RECEIVE_SECONDS)
        _release_after_call(held)
        body = await receive(context, began + RECEIVE_SECONDS - time.monotonic())
        held.resize(request_memory(len(body)))
        request = await self._parsed(method, body)
        del body
        call.scopes = named_scopes(cast("AnyRequest", request))
        self._telemetry.received(call, request)
        if self._audit:
            self._audit.begun(call)
        with observed_by(call):
            response = await running_call.run(method.answer(request, running_call))
        content = response.SerializeToString()
        held.resize(COPIES_OF_RESPONSE * len(content))
        if self._audit:
            self._audit.answered(call, response)
        self._telemetry.ended(call, Outcome(grpc.StatusCode.OK, index=answering_index(response)))
        return content

    async def _parsed(self, method: _Method, body: bytes) -> Message:
        """The request within the contract's counts. After a large one, others have the event loop for as long."""
        if len(body) <= SMALL_REQUEST_BYTES:
            return _counted(method, body)
        async with self._parsing:
            began = time.monotonic()
            try:
                return _counted(method, body)
            finally:
                await asyncio.sleep(time.monotonic() - began)

    def _refuse(self, call: CallRecord, outcome: Outcome) -> None:
        """Accounts for a call that ends without an answer."""
        self._telemetry.ended(call, outcome)
        if self._audit:
            self._audit.refused(call, outcome)


def _counted(method: _Method, body: bytes) -> Message:
    """The request as a message, which has no more entries than the contract allows."""
    request = parse(method.request.FromString, body)
    check_counts(request)
    return request


def _release_after_call(held: HeldMemory) -> None:
    """Releases the memory when gRPC's task for the call ends: the response is sent, or no caller waits for it."""
    task = asyncio.current_task()
    assert task is not None
    task.add_done_callback(lambda _: held.release())


def _given_up(seconds_remaining: float | None) -> Outcome:
    """The caller cancelled, or its deadline passed."""
    if seconds_remaining is not None and seconds_remaining < _DEADLINE_SLACK_SECONDS:
        return Outcome(grpc.StatusCode.DEADLINE_EXCEEDED, _DEADLINE_REASON)
    return Outcome(grpc.StatusCode.CANCELLED, _CANCELLED_REASON)
