"""Connections whose requests do not arrive in time."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


class TimedH11Protocol(H11Protocol):
    """uvicorn's HTTP/1.1, with a deadline for the arrival of each request, its body included.

    uvicorn closes connections that are idle after a response (`timeout_keep_alive`), but waits without end for a first
    request, and for the rest of one, so that silent connections would fill `limit_concurrency`. Here the same seconds
    count from the connection, and from the first byte of each later request; single bytes now and then do not help.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Counts from here on."""
        super().connection_made(transport)
        self._count()

    def data_received(self, data: bytes) -> None:
        """Counts as long as a request is incomplete."""
        super().data_received(data)
        if not self.cycle or self.cycle.more_body or self.cycle.response_complete:
            self._count()
        else:
            self._stop_counting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Counts no more."""
        self._stop_counting()
        super().connection_lost(exc)

    def _count(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.timeout_keep_alive, self.transport.close)

    def _stop_counting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
