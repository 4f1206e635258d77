"""Sends hostile calls over real connections, many at a time, and holds the server to its statuses."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

import grpc
import grpc.aio
import uvloop
from google.rpc import error_details_pb2, status_pb2

from support.fuzzing.hostile_calls import HostileCall, Kind

IN_FLIGHT = 48
"""Fewer than may wait for a thread, so that none is refused for overload."""
CHANNELS = 4
CALLS_BETWEEN_LOOKS = 2_000
_DETAILS_KEY = "grpc-status-details-bin"
_TYPE_URL = "type.googleapis.com/google.rpc.ErrorInfo"
_MOST_COMPLAINTS = 20
_CHANNEL_OPTIONS = (
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
    ("grpc.max_send_message_length", -1),
)

ANSWERS = frozenset(
    {
        grpc.StatusCode.OK,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.PERMISSION_DENIED,
    }
)
"""How a request may end for what it says."""
Allowed = Mapping[Kind, Collection[grpc.StatusCode]]
ALLOWED: Allowed = {
    Kind.MESSAGE: ANSWERS,
    Kind.WIRE: ANSWERS,
    Kind.OVERSIZED: {grpc.StatusCode.RESOURCE_EXHAUSTED},
    Kind.METADATA: {*ANSWERS, grpc.StatusCode.RESOURCE_EXHAUSTED},
    # What cannot end in time is refused at once.
    Kind.TIMEOUT: {*ANSWERS, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.RESOURCE_EXHAUSTED},
}


@dataclass(slots=True)
class Tally:
    """How calls ended, by kind and status, and what should not have been: at most the first twenty."""

    ends: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    complaints: list[str] = field(default_factory=list[str])
    slowest: tuple[float, int] = (0.0, -1)
    """The seconds and the number of the call that took longest."""
    seconds: float = 0.0

    @property
    def calls(self) -> int:
        """How many calls ended."""
        return self.ends.total()

    def complain(self, complaint: str) -> None:
        """Notes what should not have been."""
        if len(self.complaints) < _MOST_COMPLAINTS:
            self.complaints.append(complaint)

    def __str__(self) -> str:
        rows = [f"{kind:10} {code:20} {count:9,}" for (kind, code), count in sorted(self.ends.items())]
        slow, number = self.slowest
        last = f"{self.calls:,} calls in {self.seconds:,.0f} s; the slowest, {number}, took {slow:.2f} s"
        return "\n".join([*rows, last])


def run_campaign(
    address: str, calls: Iterator[HostileCall], allowed: Allowed = ALLOWED, look: Callable[[], list[str]] = list
) -> Tally:
    """Sends the calls. `look` says now and then what is wrong with the server; with a complaint the calls end."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_Campaign(calls, allowed, look).run(address))


class _Campaign:
    def __init__(self, calls: Iterator[HostileCall], allowed: Allowed, look: Callable[[], list[str]]) -> None:
        self._calls, self._allowed, self._look = calls, allowed, look
        self._tally = Tally()

    async def run(self, address: str) -> Tally:
        """Workers share the calls, and each has one of the channels."""
        started = time.monotonic()
        channels = [grpc.aio.insecure_channel(address, _CHANNEL_OPTIONS) for _ in range(CHANNELS)]
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(IN_FLIGHT):
                    group.create_task(self._work(channels[number % CHANNELS]))
        finally:
            for channel in channels:
                await channel.close()
        self._tally.complaints += self._look()
        self._tally.seconds = time.monotonic() - started
        return self._tally

    async def _work(self, channel: grpc.aio.Channel) -> None:
        methods: dict[str, grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]] = {}
        for call in self._calls:
            method = methods.get(call.method) or methods.setdefault(call.method, channel.unary_unary(call.method))
            await self._send(method, call)
            if self._tally.calls % CALLS_BETWEEN_LOOKS == 0:
                self._tally.complaints += self._look()
            if self._tally.complaints:
                return

    async def _send(self, method: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes], call: HostileCall) -> None:
        started = time.monotonic()
        code, complaint = grpc.StatusCode.OK, ""
        try:
            await method(call.content, metadata=call.metadata, timeout=call.seconds)
        except grpc.aio.AioRpcError as error:
            code, complaint = error.code(), _untyped(error)
        self._tally.slowest = max(self._tally.slowest, (time.monotonic() - started, call.number))
        self._tally.ends[call.kind.value, code.name] += 1
        if code not in self._allowed[call.kind]:
            complaint = f"{code.name} is no status for it: {complaint}"
        if complaint:
            self._tally.complain(f"call {call.number} ({call.kind.value}, {call.method}): {complaint}")


def _untyped(error: grpc.aio.AioRpcError) -> str:
    """What is wrong with an error that the server's own table must have made; gRPC itself makes some statuses."""
    if error.code() in (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.DEADLINE_EXCEEDED):
        return ""
    content = dict(error.trailing_metadata() or ()).get(_DETAILS_KEY, b"")
    details = status_pb2.Status.FromString(content).details
    if not details or details[0].type_url != _TYPE_URL:
        return f"has no ErrorInfo: {error.details()}"
    info = error_details_pb2.ErrorInfo.FromString(details[0].value)
    return "" if info.domain == "groundwire" and info.reason else f"has an odd ErrorInfo: {info}"
