"""Offers load to a server from a process of its own.

In an open loop calls are due at random times drawn beforehand, as from independent callers, whatever happened to
earlier calls. A call's latency counts from when it was due, so a call that a stalled server or generator delays counts
its whole wait (no coordinated omission). In a closed loop each caller makes its next call when the previous one has
ended.
"""

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from multiprocessing import get_context
from random import Random

import grpc
import grpc.aio
import numpy as np
import uvloop

from bench.load.calls import OfferedCall
from bench.shared.results import ABSENT, Grid

SEED = 3
WARMING_CALLS = 64
_CONNECTIONS = 4
_DEADLINE_SECONDS = 5.0
_CHANNEL_OPTIONS = (("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0))


@dataclass(frozen=True, slots=True)
class Load:
    """`rate` calls per second, or 0 for a closed loop of `callers`."""

    seconds: float
    rate: float = 0.0
    callers: int = 0

    def __str__(self) -> str:
        return f"{self.rate:,.0f}/s" if self.rate else f"{self.callers} callers"


@dataclass(slots=True)
class Offered:
    """The result. `milliseconds` are the latencies of answered calls, `ends` counts the other statuses.

    `late_milliseconds` are the delays with which the calls of an open loop were sent.
    """

    seconds: float = 0.0
    milliseconds: list[float] = field(default_factory=list[float])
    late_milliseconds: list[float] = field(default_factory=list[float])
    ends: dict[str, int] = field(default_factory=dict[str, int])


def offer(address: str, load: Load, calls: Sequence[OfferedCall]) -> Offered:
    """Sends calls, again and again in their order, over some connections in turn."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(_offer, address, load, calls).result()


def _offer(address: str, load: Load, calls: Sequence[OfferedCall]) -> Offered:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_Generator(address, load, calls).run())


class _Generator:
    def __init__(self, address: str, load: Load, calls: Sequence[OfferedCall]) -> None:
        self._address, self._load, self._calls = address, load, calls
        self._offered = Offered()

    async def run(self) -> Offered:
        channels = [grpc.aio.insecure_channel(self._address, _CHANNEL_OPTIONS) for _ in range(_CONNECTIONS)]
        for number in range(WARMING_CALLS):
            await self._send(channels, number, time.perf_counter())
        self._offered = Offered()
        started = time.perf_counter()
        await (self._open_loop(channels, started) if self._load.rate else self._closed_loop(channels, started))
        self._offered.seconds = time.perf_counter() - started
        for channel in channels:
            await channel.close()
        return self._offered

    async def _open_loop(self, channels: Sequence[grpc.aio.Channel], started: float) -> None:
        due = 0.0
        chance = Random(SEED)
        async with asyncio.TaskGroup() as group:
            for number in count():
                due += chance.expovariate(self._load.rate)
                if due > self._load.seconds:
                    return
                if (wait := started + due - time.perf_counter()) > 0:
                    await asyncio.sleep(wait)
                self._offered.late_milliseconds.append(1_000.0 * (time.perf_counter() - started - due))
                group.create_task(self._send(channels, number, started + due))

    async def _closed_loop(self, channels: Sequence[grpc.aio.Channel], started: float) -> None:
        numbers = count()

        async def caller() -> None:
            while (now := time.perf_counter()) < started + self._load.seconds:
                await self._send(channels, next(numbers), now)

        await asyncio.gather(*(caller() for _ in range(self._load.callers)))

    async def _send(self, channels: Sequence[grpc.aio.Channel], number: int, due: float) -> None:
        call = self._calls[number % len(self._calls)]
        method: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channels[number % len(channels)].unary_unary(
            call.method
        )
        try:
            await method(call.content, timeout=_DEADLINE_SECONDS)
        except grpc.aio.AioRpcError as error:
            name = error.code().name
            self._offered.ends[name] = self._offered.ends.get(name, 0) + 1
        else:
            self._offered.milliseconds.append(1_000.0 * (time.perf_counter() - due))


PERCENTILES = (50.0, 90.0, 99.0)


@dataclass(frozen=True, slots=True)
class Point:
    """One load of one server.

    `percentiles` are milliseconds of the answered calls, as PERCENTILES names them; `late` is the 99th percentile of
    the delay with which the generator sent calls. `refused` and `failed` are shares of all calls.
    """

    server: str
    load: Load
    answered: float
    percentiles: tuple[float, ...]
    late: float
    refused: float
    failed: float


def point(server: str, load: Load, outcome: Offered) -> Point:
    """The figures of one load. Raises RuntimeError if no call was answered."""
    if not outcome.milliseconds:
        raise RuntimeError(f"{server}: no call was answered: {outcome.ends}")
    refused = outcome.ends.get("RESOURCE_EXHAUSTED", 0)
    calls = len(outcome.milliseconds) + sum(outcome.ends.values())
    percentiles = tuple(np.percentile(outcome.milliseconds, PERCENTILES).tolist())
    late = float(np.percentile(outcome.late_milliseconds, 99.0)) if outcome.late_milliseconds else 0.0
    failed = sum(outcome.ends.values()) - refused
    answered = len(outcome.milliseconds) / outcome.seconds
    return Point(server, load, answered, percentiles, late, refused / calls, failed / calls)


def grid(points: Sequence[Point], title: str) -> Grid:
    """One row per server and load, with the delay of the generator itself."""
    rows = [
        [
            f"{result.server}, {result.load}",
            f"{result.answered:,.0f}",
            *(f"{value:,.1f}" for value in result.percentiles),
            *(f"{share:.1%}" if share else ABSENT for share in (result.refused, result.failed)),
            f"{result.late:.1f}",
        ]
        for result in points
    ]
    return Grid(title, ["load", "answered/s", "p50 ms", "p90", "p99", "refused", "failed", "sent late, p99 ms"], rows)
