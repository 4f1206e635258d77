"""Reflection: the contract as callers may ask for it over the wire, whoever they are, and within bounds."""

from collections.abc import AsyncIterable, Iterable
from typing import TypeAlias, cast

import grpc
import grpc.aio
from grpc_reflection.v1alpha import reflection, reflection_pb2
from grpc_reflection.v1alpha.reflection import aio

from groundwire_server.domain.errors import DeadlineError
from groundwire_server.rpc.bodies import Places

MAX_CONVERSATIONS = 16
"""How many streams are answered at a time, the oldest giving way to one more."""
CONVERSATION_SECONDS = 60.0

_Requests: TypeAlias = AsyncIterable[reflection_pb2.ServerReflectionRequest]
_Responses: TypeAlias = AsyncIterable[reflection_pb2.ServerReflectionResponse]
_Context: TypeAlias = grpc.aio.ServicerContext[
    reflection_pb2.ServerReflectionRequest, reflection_pb2.ServerReflectionResponse
]


class ReflectionService:
    """Answers for the named services, itself included."""

    def __init__(self, services: Iterable[str]) -> None:
        self._servicer = aio.ReflectionServicer((*services, reflection.SERVICE_NAME))
        self._conversations = Places(MAX_CONVERSATIONS)

    @property
    def handler(self) -> grpc.GenericRpcHandler:
        """The handler of the service's method on one server."""
        converse = grpc.stream_stream_rpc_method_handler(
            self._converse,
            request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
            response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
        )
        return grpc.method_handlers_generic_handler(reflection.SERVICE_NAME, {"ServerReflectionInfo": converse})

    async def _converse(self, requests: _Requests, context: _Context) -> None:
        try:
            await self._answer(requests, context)
            return
        except DeadlineError as error:
            message = error.message
        try:
            await context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, message)
        finally:
            del context, requests  # `CallHandler` says why

    async def _answer(self, requests: _Requests, context: _Context) -> None:
        """Raises DeadlineError when the stream has lasted too long, or when a newer stream takes its place."""
        async with self._conversations.taken(CONVERSATION_SECONDS):
            # An asynchronous generator, which the types of its library take for a coroutine.
            responses = cast("_Responses", self._servicer.ServerReflectionInfo(requests, context))
            async for response in responses:
                await context.write(response)
