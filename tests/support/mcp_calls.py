"""Calls of `groundwire mcp` by the SDK's own client, one session for each."""

import asyncio
import queue
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from support.program import START_SECONDS, executable, start

_Result = TypeVar("_Result")
ANNOUNCEMENT = "serving MCP at "


@dataclass(frozen=True, slots=True)
class Told:
    """What a tool returned, in both forms."""

    text: str
    structured: dict[str, Any]
    failed: bool


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent that speaks to a URL, with a bearer token or without; `mode` is the SDK's name of a protocol."""

    url: str
    token: str | None = None
    mode: str = "auto"

    def session(self, action: Callable[[Client], Awaitable[_Result]]) -> _Result:
        """What `action` makes of a session of its own. Raises the MCPError that it raises."""

        async def run() -> _Result | MCPError:
            headers = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
            async with (
                # Without the authorities of TLS, which take longer to load than all else together.
                httpx2.AsyncClient(headers=headers, verify=False, timeout=START_SECONDS) as http,
                Client(streamable_http_client(self.url, http_client=http), mode=self.mode) as client,
            ):
                try:
                    return await action(client)
                except MCPError as error:  # which a session would wrap in groups
                    return error

        result = asyncio.run(run())
        if isinstance(result, MCPError):
            raise result
        return result

    def call(self, tool: str, **arguments: object) -> Told:
        """What a tool returns."""
        return self.session(lambda client: call(client, tool, **arguments))

    def read(self, uri: str) -> str:
        """The text of a resource. Raises MCPError."""

        async def text(client: Client) -> str:
            (content,) = (await client.read_resource(uri)).contents
            return str(content.text)  # type: ignore[union-attr]

        return self.session(text)


async def call(client: Client, tool: str, **arguments: object) -> Told:
    """What a tool returns in a session."""
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    return Told(content.text, result.structured_content or {}, bool(result.is_error))  # type: ignore[union-attr]


def over_stdio(
    action: Callable[[Client], Awaitable[_Result]], *arguments: str | Path, environment: dict[str, str]
) -> _Result:
    """What `action` makes of a session with a process `groundwire mcp ARGUMENTS` of its own."""

    async def run() -> _Result:
        command = StdioServerParameters(command=executable(), args=["mcp", *map(str, arguments)], env=environment)
        async with Client(command) as client:
            return await action(client)

    return asyncio.run(run())


@contextmanager
def http_server(*arguments: str | Path, log: list[str]) -> Iterator[str]:
    """The URL of a process `groundwire mcp ARGUMENTS` on a free port; what it writes to stderr goes to `log`."""
    process = start("mcp", "--http", "127.0.0.1:0", *arguments)
    assert process.stderr is not None
    urls: queue.Queue[str] = queue.Queue()

    def read() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            log.append(line)
            if line.startswith(ANNOUNCEMENT):
                urls.put(line.removeprefix(ANNOUNCEMENT).strip())
        urls.put("")

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        url = urls.get(timeout=START_SECONDS)
        assert url, "".join(log)
        yield url
    finally:
        process.terminate()
        process.wait(START_SECONDS)
        reader.join()
        process.stderr.close()
        assert process.stdout is not None
        process.stdout.close()
