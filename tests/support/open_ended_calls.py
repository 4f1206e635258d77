"""Calls whose requests never come to their end, and answers that nobody takes: many on one connection, by hand."""

import socket
import time
from collections.abc import Callable, Sequence
from struct import pack
from types import TracebackType
from typing import Self

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import h2.settings

from support.patience import PATIENCE_SECONDS

_CHUNK_BYTES = 16_384
_POLL_SECONDS = 0.02
_PAUSE_SECONDS = 0.002
"""Between pieces that are sent, so that other threads of the test have their turn."""
RESET = "reset"


def pump_all(connections: Sequence["Connection"], until: Callable[[], bool]) -> None:
    """Sends and receives over all in turn until something holds, or the server has closed all of them."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not until() and not all(connection.refused for connection in connections):
        assert time.monotonic() < end, f"in vain: of each {[len(connection.ends) for connection in connections]} ended"
        for connection in connections:
            connection.exchange()


class Connection:
    """A connection in the clear, over which streams are sent as far as the server lets them.

    `ends` has the `grpc-status` of each stream that has ended, RESET for one without, and `answered` the streams of
    which a message has come. The client takes `window` bytes
    of each answer, and reads no more of it. `refused` says that the server has closed the connection.
    """

    def __init__(self, address: str, window: int = 65_535) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS)
        self._h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding=None))
        self._h2.local_settings = h2.settings.Settings(
            client=True, initial_values={h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window}
        )
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(2**30)
        self._left: dict[int, memoryview] = {}
        self._unending: dict[int, bytes] = {}
        self.ends: dict[int, str] = {}
        self.answered: set[int] = set()
        self.refused = False
        self._acknowledged = 0
        self._flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._socket.close()

    def call(self, method: str, message: bytes, *, lacks: int = 0, metadata: Sequence[tuple[bytes, bytes]] = ()) -> int:
        """Begins a call with a message, of which so many last bytes will not come, and neither does its end then."""
        stream = self._h2.get_next_available_stream_id()
        headers = [
            (b":method", b"POST"),
            (b":scheme", b"http"),
            (b":path", method.encode()),
            (b":authority", b"localhost"),
            (b"te", b"trailers"),
            (b"content-type", b"application/grpc"),
            *metadata,
        ]
        self._h2.send_headers(stream, headers)
        framed = pack(">BI", 0, len(message)) + message
        self._left[stream] = memoryview(framed)[: len(framed) - lacks]
        if lacks:
            self._unending[stream] = framed[-lacks:]
        self._flush()
        return stream

    def complete(self) -> None:
        """Sends what all calls lack, and their ends, at once."""
        for stream, lacking in self._unending.items():
            self._h2.send_data(stream, lacking, end_stream=True)
        self._unending.clear()
        self._flush()

    def reset(self, stream: int) -> None:
        """Gives a call up."""
        self._left.pop(stream, None)
        self._h2.reset_stream(stream)
        self._flush()

    @property
    def all_sent(self) -> bool:
        """Whether all that calls do not lack has been sent."""
        return not self._left

    @property
    def max_streams(self) -> int | None:
        """How many streams the server admits at a time, None while it has not told."""
        return self._h2.remote_settings.get(h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS)

    def pump(self, until: Callable[[], bool]) -> None:
        """Sends and receives until something holds, or the server has closed the connection."""
        pump_all([self], until)

    def await_ends(self, count: int) -> None:
        """Sends and receives until so many streams have ended."""
        self.pump(lambda: len(self.ends) >= count)

    def await_messages(self) -> None:
        """Sends and receives until a message has come on each stream."""
        count = (self._h2.highest_outbound_stream_id + 1) // 2
        self.pump(lambda: len(self.answered) == count)

    def await_answer(self) -> None:
        """Sends what it can, and receives what the server had sent before it heard of this."""
        acknowledged = self._acknowledged
        self._h2.ping(b"answered")
        self.pump(lambda: self._acknowledged > acknowledged)

    def exchange(self) -> None:
        """Sends a piece of each call, and receives what has come."""
        sent = [self._send(stream) for stream in list(self._left)]
        self._flush()
        self._receive(_PAUSE_SECONDS if any(sent) else _POLL_SECONDS)

    def _send(self, stream: int) -> bool:
        """Sends a piece, and tells whether the server had room for it."""
        try:
            room = min(self._h2.local_flow_control_window(stream), _CHUNK_BYTES)
            left = self._left[stream]
            if left and room <= 0:
                return False
            chunk, self._left[stream] = left[:room], left[room:]
            ends = not self._left[stream] and stream not in self._unending
            self._h2.send_data(stream, bytes(chunk), end_stream=ends)
            if not self._left[stream]:
                del self._left[stream]
        except (h2.exceptions.StreamClosedError, h2.exceptions.ProtocolError):
            self._left.pop(stream, None)
        return True

    def _receive(self, wait_seconds: float) -> None:
        try:
            self._socket.settimeout(wait_seconds)
            content = self._socket.recv(1 << 18)
        except TimeoutError:
            return
        except OSError:
            content = b""
        if not content:
            self.refused = True
            return
        for event in self._h2.receive_data(content):
            self._take(event)
        for stream in self.ends:
            self._left.pop(stream, None)
        self._flush()

    def _take(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.ResponseReceived(stream_id=int(stream)) | h2.events.TrailersReceived(stream_id=int(stream)):
                status = dict(event.headers or ()).get(b"grpc-status")
                if status is not None:
                    self.ends[stream] = bytes(status).decode()
            case h2.events.StreamReset(stream_id=int(stream)):
                self.ends.setdefault(stream, RESET)
            case h2.events.DataReceived(stream_id=int(stream)):
                self.answered.add(stream)
            case h2.events.PingAckReceived():
                self._acknowledged += 1
            case _:
                pass

    def _flush(self) -> None:
        content = self._h2.data_to_send()
        try:
            if content:
                self._socket.settimeout(PATIENCE_SECONDS)
                self._socket.sendall(content)
        except OSError:
            self.refused = True
