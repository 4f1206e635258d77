"""Receives the request of a call, which stays in the network until the server reads it.

gRPC's own handlers of unary calls receive and parse the request before any code of this server runs, however long that
takes and for every caller. A handler of a stream decides when to receive it, and both are the same on the wire. So
every method is served by a handler of a stream, which reads once.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias, TypeVar, cast

import grpc.aio
from google.protobuf.message import DecodeError

from groundwire_server.domain.errors import DeadlineError, FieldViolation, InvalidRequestError, Reason

CallContext: TypeAlias = grpc.aio.ServicerContext[bytes, Any]
"""A call as gRPC knows it; its request comes as bytes."""
_CANCELLATION_SECONDS = 0.05
Request = TypeVar("Request")


async def receive(context: CallContext, seconds: float | None) -> bytes:
    """The bytes of the call's one request.

    Raises DeadlineError when they have not all arrived within `seconds` (None: no such limit) or by the call's
    deadline. Raises InvalidRequestError when none will arrive.
    """
    try:
        async with asyncio.timeout(seconds):
            body = cast("object", await context.read())
    except TimeoutError:
        raise DeadlineError("the request had not arrived in full in time; send it sooner, or a shorter one") from None
    if isinstance(body, bytes):
        return body
    # gRPC also reports the end of the stream when the call was cancelled, its deadline passed, or the message is too
    # long. The cause arrives as a cancellation of this task, a moment later.
    await asyncio.sleep(_CANCELLATION_SECONDS)
    if context.time_remaining() == 0:
        raise DeadlineError
    raise malformed("request", "the call ended without a request; send one message")


def parse(deserialize: Callable[[bytes], Request], body: bytes) -> Request:
    """The request as a message. Raises InvalidRequestError when the bytes are none."""
    try:
        return deserialize(body)
    except DecodeError:
        description = "the bytes are no message of this method; build client and server from the same contract"
        raise malformed("request", description) from None


class Places:
    """Limits how many unidentified callers are served at a time: a new one ends the oldest.

    Honest requests are received within milliseconds. A caller that sends one byte by byte soon is the oldest, so it
    cannot keep others out by taking every place. Use it in one event loop.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken: OrderedDict[asyncio.Timeout, None] = OrderedDict()

    @asynccontextmanager
    async def taken(self, seconds: float) -> AsyncIterator[None]:
        """Takes a place while the context is open. Raises DeadlineError after `seconds`, or when the place is lost."""
        try:
            async with asyncio.timeout(seconds) as place:
                while len(self._taken) >= self._most:
                    oldest, _ = self._taken.popitem(last=False)
                    if not oldest.expired():  # by itself, in this very moment
                        oldest.reschedule(asyncio.get_running_loop().time())
                self._taken[place] = None
                try:
                    yield
                finally:
                    self._taken.pop(place, None)
        except TimeoutError:
            raise DeadlineError(f"it took longer than {seconds:g} s, or too many others came") from None


def malformed(field: str, description: str) -> InvalidRequestError:
    """The error for a field, or the request as a whole, that is not of its form."""
    return InvalidRequestError((FieldViolation(field, Reason.VALUE_MALFORMED, description),))
