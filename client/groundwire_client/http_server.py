"""What the HTTP servers of `groundwire mcp` and `groundwire explore` share: limits of connections, and their log.

Only what serves HTTP imports this module: it needs `uvicorn`.
"""

import asyncio
import logging
import signal
import socket
import time
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import Any, TypeAlias

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from groundwire.printable_text import printable
from groundwire_client._channel import is_loopback_host

MAX_CONNECTIONS = 256
REQUEST_SECONDS = 10
"""How long a request may take to arrive, and a connection may be idle."""
SECONDS_BETWEEN_LINES = 60.0
"""A line of the log from the same place in the code is written once in so many seconds."""
_ACCEPTED_AT_ONCE = 128
"""New connections before the first of them is counted. A process may open 1,024 files on many systems."""

_ExceptionInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
_Application: TypeAlias = Callable[..., Any]


def limited_server(app: _Application) -> uvicorn.Server:
    """A server of an ASGI application. It writes no line about a request, as lines would have addresses and paths."""
    return _Server(
        uvicorn.Config(
            app,
            http=LimitedConnection,
            ws="none",
            loop="asyncio",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_keep_alive=REQUEST_SECONDS,
            backlog=_ACCEPTED_AT_ONCE,
        )
    )


def listening_at(host: str, port: int) -> socket.socket:
    """A socket that listens; the port 0 takes a free one. Raises OSError."""
    return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)


def allowed_hosts(host: str, port: int, others: Sequence[str]) -> list[str]:
    """Values of the header `Host` as a page of this address would send them: a rebound name is none of them.

    `others` are further ones, such as the name of a proxy.
    """
    own_names = {"127.0.0.1", "localhost", "[::1]"} if is_loopback_host(host) else {in_url(host)}
    return [*sorted(f"{name}:{port}" for name in own_names), *others]


def in_url(host: str) -> str:
    """A host as addresses of pages have it: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


class _Server(uvicorn.Server):
    """uvicorn's server. Ctrl-C ends it at once; SIGTERM, as of an orchestrator, lets requests that run end first."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begins the end. What uvicorn would log of the requests that it cancels then is of no use to a person."""
        super().handle_exit(sig, frame)
        if sig == signal.SIGINT:
            self.config.timeout_graceful_shutdown = 0
            logging.disable()


class LimitedConnection(H11Protocol):
    """uvicorn's HTTP/1.1, with a deadline for the arrival of each request, and a place that only work holds.

    uvicorn closes connections that are idle after a response (`timeout_keep_alive`), but waits without end for a first
    request, and for the rest of one. Here the same seconds count from the connection, and from the first byte of each
    later request; single bytes now and then do not help. When all places are taken, the connection that has waited
    longest for its client is closed for a new one. It waits for a request, for the rest of one, or until its response
    is read. So whoever opens many connections, and sends or reads nothing, shuts out no one.
    """

    _deadline: asyncio.TimerHandle | None = None
    _waits_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Counts from here on."""
        self._waits_since = self.loop.time()
        if len(self.connections) >= MAX_CONNECTIONS - 1:
            self._close_another()
        super().connection_made(transport)
        self._count()

    def data_received(self, data: bytes) -> None:
        """Counts as long as a request is incomplete."""
        super().data_received(data)
        if self._is_incomplete:
            self._count()
        else:
            self._waits_since = self.loop.time()
            self._stop_counting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Counts no more."""
        self._stop_counting()
        super().connection_lost(exc)

    @property
    def _is_incomplete(self) -> bool:
        return not self.cycle or self.cycle.more_body or self.cycle.response_complete

    @property
    def _waits(self) -> bool:
        return self._is_incomplete or self.flow.write_paused

    def _close_another(self) -> None:
        waiting = [
            connection
            for connection in self.connections
            if isinstance(connection, LimitedConnection) and connection._waits
        ]
        if waiting:
            oldest = min(waiting, key=lambda connection: connection._waits_since)
            self.connections.discard(oldest)
            oldest.transport.abort()

    def _count(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.timeout_keep_alive, self.transport.close)

    def _stop_counting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def log_to_stderr() -> None:
    """Warnings and errors of this process and its libraries, one line each: never an argument, a text or a token."""
    handler = logging.StreamHandler()
    handler.setFormatter(_WithoutMessages("%(levelname)s %(name)s: %(message)s"))
    handler.addFilter(RareLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)


class RareLines(logging.Filter):
    """Lets a line of each place in the code through once in a while; the next one says how many were left out.

    Otherwise each refused request would be a line, and whoever sends many would fill the disk.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._written: dict[tuple[str, int], float] = {}
        self._left_out: dict[tuple[str, int], int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """True if the line is to be written."""
        place, now = (record.pathname, record.lineno), self._clock()
        if place in self._written and now - self._written[place] < SECONDS_BETWEEN_LINES:
            self._left_out[place] = self._left_out.get(place, 0) + 1
            return False
        self._written[place] = now
        left_out = self._left_out.pop(place, 0)
        if left_out:
            record.msg, record.args = f"{record.getMessage()} (and {left_out} more before)", ()
        return True


class _WithoutMessages(logging.Formatter):
    """Of an exception its type and where it was raised; its message may quote what a caller sent."""

    def format(self, record: logging.LogRecord) -> str:
        """The lines, with control characters as visible signs: a header of a request may be quoted."""
        return printable(super().format(record))

    def formatException(self, ei: _ExceptionInfo) -> str:  # noqa: N802 - the name of the base class
        """The type and the frames."""
        kind, _, trace = ei
        frames: list[str] = []
        while trace is not None:
            code = trace.tb_frame.f_code
            frames.append(f"  {code.co_filename}:{trace.tb_lineno} in {code.co_name}")
            trace = trace.tb_next
        return "\n".join([f"{kind.__name__ if kind else 'exception'}, raised at", *frames])
