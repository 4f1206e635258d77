"""Calls that no gRPC client makes: frames and headers written by hand, one connection each."""

import socket
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from struct import pack

import h2.config
import h2.connection
import h2.events
import h2.exceptions

from support.fuzzing.hostile_calls import odd_header, odd_token
from support.fuzzing.valid_requests import READS

Headers = Sequence[tuple[bytes, bytes]]
PATIENCE_SECONDS = 300.0
SHORT_PATIENCE_SECONDS = 1.0
INTERNAL, UNKNOWN = "13", "2"
REFUSALS_OF_GRPC = {
    INTERNAL: ("Error parsing '", "Compression bit set but no encoding configured", "Decompression failed"),
    UNKNOWN: ("Unexpected <class 'UnicodeDecodeError'>",),  # a path that is no UTF-8
}
"""How messages of gRPC itself begin, by status; no code of the server runs then."""
_WINDOW_BYTES = 2**24
_TIMEOUTS = (
    b"", b"S", b"1", b"-1S", b"1X", b"abc", b"0n", b"99999999H", b"999999999H", b"18446744073709551616S", b"1.5S",
    b" 1S", b"1S ", b"\xff", b"0x10S", b"1e3S",
)  # fmt: skip
_ENCODINGS = (b"gzip", b"deflate", b"identity", b"br", b"", b"gzip,deflate", b"\xff", b"x" * 500)
_TEXTS = (b"", b"a", b"\x7f", b"\x80\xff", b"\xc3\xa9", b"%", b" padded ", b"x" * 5_000, b"a,b,,c", b"!!! no base 64")


@dataclass(frozen=True, slots=True)
class RawCall:
    """A stream as it is sent: its headers, then its bytes, then its end unless `ends` is false."""

    number: int
    what: str
    headers: Headers
    body: bytes
    ends: bool = True

    @property
    def may_wait(self) -> bool:
        """Whether gRPC may wait for a message that never comes whole."""
        return self.what in ("body", "compression")


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """How a stream ended: the `grpc-status`, else `http 415`, `reset 8`, `goaway 1`, `closed`, `left` or `never`."""

    end: str
    message: str = ""


def framed(message: bytes, flag: int = 0, length: int | None = None) -> bytes:
    """A message with gRPC's prefix; `length` lies about it."""
    return pack(">BI", flag, len(message) if length is None else length) + message


def raw_calls(seed: int, count: int, max_receive_bytes: int, tokens: Sequence[str] = ("a.b.c",)) -> Iterator[RawCall]:
    """Calls that follow from the seed and their numbers."""
    makers = (_odd_timeout, _odd_headers, _odd_body, _odd_compression, _odd_request)
    for number in range(count):
        chance = Random(seed << 40 | number)
        yield makers[number % len(makers)](number, chance, max_receive_bytes, tokens)


def _valid(chance: Random) -> tuple[dict[bytes, bytes], bytes]:
    request = chance.choice(READS)
    headers = {
        b":method": b"POST",
        b":scheme": b"http",
        b":path": request.method.encode(),
        b":authority": b"localhost",
        b"te": b"trailers",
        b"content-type": b"application/grpc",
    }
    return headers, request.message.SerializeToString(deterministic=True)


def _odd_timeout(number: int, chance: Random, _size: int, _tokens: Sequence[str]) -> RawCall:
    headers, message = _valid(chance)
    return RawCall(number, "timeout", [*headers.items(), (b"grpc-timeout", chance.choice(_TIMEOUTS))], framed(message))


def _odd_headers(number: int, chance: Random, _size: int, tokens: Sequence[str]) -> RawCall:
    """Metadata with bytes that gRPC's own clients refuse to send."""
    headers, message = _valid(chance)
    keys = ("x-request-id", "traceparent", "tracestate", "authorization", "x-odd-bin", "grpc-trace-bin", "user-agent")
    odd: list[tuple[bytes, bytes]] = []
    for key in chance.choices(keys, k=chance.choice((1, 1, 2, 20))):
        text = "Bearer " + odd_token(chance, tokens) if key == "authorization" else odd_header(chance, key, tokens)
        value = text.encode() if isinstance(text, str) else text
        noise = bytes(byte for byte in chance.randbytes(9) if byte not in b"\0\r\n")
        odd.append((key.encode(), chance.choice((value, value + noise, noise, *_TEXTS))))
    return RawCall(number, "headers", [*headers.items(), *odd], framed(message))


def _odd_body(number: int, chance: Random, size: int, _tokens: Sequence[str]) -> RawCall:
    """No message, two, a part of one, one that is longer than it says, and one that never ends."""
    headers, message = _valid(chance)
    whole = framed(message)
    lies = (0, 1, len(message) - 1, len(message) + 1, size, size + 1, 2**31 - 1, 2**31, 2**32 - 1)
    bodies = (
        b"", whole[:1], whole[:4], whole[:5], whole[:-1], whole + whole, whole + b"\0", whole + whole[:7], framed(b""),
        framed(b"") * 3, framed(message, length=chance.choice(lies)), chance.randbytes(chance.randrange(1, 40)),
    )  # fmt: skip
    return RawCall(number, "body", list(headers.items()), chance.choice(bodies), ends=chance.random() < 0.9)


def _odd_compression(number: int, chance: Random, size: int, _tokens: Sequence[str]) -> RawCall:
    """Flags without compression, compression without flags, and a message that grows beyond what is received."""
    headers, message = _valid(chance)
    gzipped, bomb = zlib.compress(message, wbits=31), _bomb(message, 200 * size)
    contents = (message, b"", b"\x1f\x8b\x08", gzipped, zlib.compress(message), bomb)
    flag = chance.choice((0, 1, 1, 1, 1, 2, 3, 128, 255))
    if chance.random() < 0.85:
        headers[b"grpc-encoding"] = chance.choice((b"gzip", b"gzip", *_ENCODINGS))
    if chance.random() < 0.3:
        headers[b"grpc-accept-encoding"] = chance.choice(_ENCODINGS)
    return RawCall(number, "compression", list(headers.items()), framed(chance.choice(contents), flag))


@cache
def _bomb(message: bytes, size: int) -> bytes:
    """The message and so many bytes more. To compress them takes longer than all that is done with them later."""
    return zlib.compress(message + b"\x9a\x06" + b"\0" * size, wbits=31)


def _odd_request(number: int, chance: Random, _size: int, _tokens: Sequence[str]) -> RawCall:
    """Another path, method or content type."""
    headers, message = _valid(chance)
    changes: dict[bytes, Sequence[bytes]] = {
        b":method": (b"GET", b"PUT", b"OPTIONS", b"post", b"", b"X" * 300),
        b":path": (b"", b"/", b"//", b"*", b"/groundwire.v1.QueryService/", b"/groundwire.v1.QueryService/Nothing",
                   b"/groundwire./x", b"/groundwire.v1.IndexService", b"/\xff\xfe", b"/" + b"a" * 4_000, b"http://x/y"),
        b":scheme": (b"https", b"ftp", b""),
        b":authority": (b"", b"\xff", b"a" * 3_000, b"::1"),
        b"te": (b"", b"gzip", b"trailers, deflate"),
        b"content-type": (b"", b"application/json", b"application/grpc+json", b"application/grpc;x", b"\xff"),
    }  # fmt: skip
    name = chance.choice(list(changes))
    if chance.random() < 0.2:
        del headers[name]
    else:
        headers[name] = chance.choice(changes[name])
    return RawCall(number, "request", list(headers.items()), framed(message))


def send(address: str, call: RawCall) -> RawAnswer:
    """Makes the call over a connection of its own, closed after the answer, or at once if the call has no end."""
    host, _, port = address.rpartition(":")
    patience = SHORT_PATIENCE_SECONDS if call.may_wait else PATIENCE_SECONDS
    with socket.create_connection((host, int(port)), timeout=patience) as connection:
        try:
            return _Stream(connection).run(call)
        except TimeoutError:
            return RawAnswer("never")


def complaint(call: RawCall, answer: RawAnswer) -> str:
    """What is wrong with an answer; empty for one that may be. INTERNAL and UNKNOWN may come from gRPC itself alone."""
    refusals = REFUSALS_OF_GRPC.get(answer.end)
    by_server = refusals is not None and not answer.message.startswith(refusals)
    if by_server or (answer.end == "never" and not call.may_wait):
        return f"frames {call.number} ({call.what}): {answer}"
    return ""


class _Stream:
    """One stream of one connection, with whatever headers."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._http2 = h2.connection.H2Connection(
            h2.config.H2Configuration(
                header_encoding=None, validate_outbound_headers=False, normalize_outbound_headers=False
            )
        )

    def run(self, call: RawCall) -> RawAnswer:
        self._http2.initiate_connection()
        self._http2.increment_flow_control_window(_WINDOW_BYTES)
        self._http2.send_headers(1, call.headers)
        try:
            self._flush()
            self._send_body(call)
            return self._await_end() if call.ends else RawAnswer("left")
        except (ConnectionError, h2.exceptions.StreamClosedError):
            return RawAnswer("closed")
        except h2.exceptions.ProtocolError:
            # What a server still sends after its GOAWAY, h2 takes for an error.
            if self._http2.state_machine.state is not h2.connection.ConnectionState.CLOSED:
                raise
            return RawAnswer("closed")

    def _send_body(self, call: RawCall) -> None:
        limit = self._http2.max_outbound_frame_size
        chunks = [call.body[start : start + limit] for start in range(0, len(call.body), limit)] or [b""]
        for place, chunk in enumerate(chunks):
            while self._http2.local_flow_control_window(1) < len(chunk):
                self._http2.receive_data(self._socket.recv(65_536))
            self._http2.send_data(1, chunk, end_stream=call.ends and place == len(chunks) - 1)
            self._flush()

    def _await_end(self) -> RawAnswer:
        headers: dict[bytes, bytes] = {}
        while True:
            received = self._socket.recv(65_536)
            if not received:
                return RawAnswer("closed")
            for event in self._http2.receive_data(received):
                if isinstance(event, h2.events.ResponseReceived | h2.events.TrailersReceived):
                    headers |= dict(event.headers)
                if isinstance(event, h2.events.StreamReset) and b"grpc-status" not in headers:
                    return RawAnswer(f"reset {event.error_code}")
                if isinstance(event, h2.events.ConnectionTerminated):
                    return RawAnswer(f"goaway {event.error_code}")
                if isinstance(event, h2.events.StreamEnded | h2.events.StreamReset):
                    return _answer(headers)
            self._flush()

    def _flush(self) -> None:
        self._socket.sendall(self._http2.data_to_send())


def _answer(headers: dict[bytes, bytes]) -> RawAnswer:
    message = headers.get(b"grpc-message", b"").decode("latin-1")
    status = headers.get(b"grpc-status")
    return RawAnswer(f"http {headers.get(b':status', b'').decode()}" if status is None else status.decode(), message)
