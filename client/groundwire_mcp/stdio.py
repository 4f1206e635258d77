"""MCP over standard input and output: every request gets an answer, also one that is no message of the protocol."""

import json
from types import TracebackType
from typing import Any, Self, cast

import anyio
from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

_NO_MESSAGE = "the line is no message of JSON-RPC 2.0 in UTF-8: send one without halves of surrogate pairs"


async def serve_stdio(server: Server[Any]) -> None:
    """Serves until standard input ends."""
    async with stdio_server() as (incoming, outgoing):
        await server.run(AnsweredLines(incoming, outgoing), outgoing, server.create_initialization_options())


class AnsweredLines:
    """Messages as they come. A line that is none is answered with an error, where the SDK would say nothing.

    An agent would wait for ever for the answer to a request whose arguments have half of a surrogate pair.
    """

    def __init__(self, incoming: ReadStream[SessionMessage | Exception], outgoing: WriteStream[SessionMessage]) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    @property
    def last_context(self) -> Any:  # noqa: ANN401 - of the SDK's stream
        """What the sender of the last message ran in."""
        return getattr(self._incoming, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        while isinstance(message := await self._incoming.receive(), Exception):
            error = types.ErrorData(code=types.PARSE_ERROR, message=_NO_MESSAGE)
            refusal = types.JSONRPCError(jsonrpc="2.0", id=_request_id(message), error=error)
            await self._outgoing.send(SessionMessage(refusal))
        return message

    async def aclose(self) -> None:
        """Ends the stream."""
        await self._incoming.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


def _request_id(error: Exception) -> str | int | None:
    """The id of the request in a line that the SDK refused; None when it has none that can be read."""
    line = error.errors(include_url=False)[0]["input"] if isinstance(error, ValidationError) else None
    try:
        message: object = json.loads(line) if isinstance(line, str) else line
    except (ValueError, RecursionError):
        return None
    given = cast("dict[str, object]", message).get("id") if isinstance(message, dict) else None
    if isinstance(given, str):
        return given if given.isascii() else None
    return given if isinstance(given, int) and not isinstance(given, bool) else None
