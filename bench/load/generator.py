"""`python -m bench.load.generator PLAN`: offers load from a process of its own. PLAN and the result are JSON objects.

In an open loop calls are due at random times drawn beforehand, as from independent callers, whatever happened to
earlier calls. A call's latency counts from when it was due, so a call that a stalled server or generator delays counts
its whole wait (no coordinated omission). In a closed loop each caller makes its next call when the previous one has
ended.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from random import Random

import grpc
import grpc.aio
import uvloop

from bench.load.calls import OfferedCall, read_offered
from bench.shared.programs import ROOT

SEED = 3
WARMING_CALLS = 64
_CHANNEL_OPTIONS = (("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0))


@dataclass(frozen=True, slots=True)
class Plan:
    """The load: `rate` calls per second, or 0 for a closed loop of `callers`."""

    address: str
    calls: str
    seconds: float
    rate: float = 0.0
    callers: int = 0
    connections: int = 4
    deadline_seconds: float = 5.0


@dataclass(slots=True)
class Offered:
    """The result. `milliseconds` are the latencies of answered calls, `ends` counts the other statuses.

    `late_milliseconds` are the delays with which the calls of an open loop were sent.
    """

    seconds: float = 0.0
    milliseconds: list[float] = field(default_factory=list[float])
    late_milliseconds: list[float] = field(default_factory=list[float])
    ends: dict[str, int] = field(default_factory=dict[str, int])


def offer(plan: Plan) -> Offered:
    """Runs a plan in a process of its own. Raises RuntimeError."""
    command = [sys.executable, "-m", "bench.load.generator", json.dumps(asdict(plan))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the load generator failed: {done.stderr.strip()[-2_000:]}")
    return Offered(**json.loads(done.stdout))


class _Generator:
    """Sends calls over the connections in turn, in the order of the file."""

    def __init__(self, plan: Plan, calls: Sequence[OfferedCall]) -> None:
        self._plan, self._calls = plan, calls
        self._offered = Offered()

    async def run(self) -> Offered:
        address, connections = self._plan.address, self._plan.connections
        channels = [grpc.aio.insecure_channel(address, _CHANNEL_OPTIONS) for _ in range(connections)]
        for number in range(WARMING_CALLS):
            await self._send(channels, number, time.perf_counter())
        self._offered = Offered()
        started = time.perf_counter()
        await (self._open_loop(channels, started) if self._plan.rate else self._closed_loop(channels, started))
        self._offered.seconds = time.perf_counter() - started
        for channel in channels:
            await channel.close()
        return self._offered

    async def _open_loop(self, channels: Sequence[grpc.aio.Channel], started: float) -> None:
        due = 0.0
        chance = Random(SEED)
        async with asyncio.TaskGroup() as group:
            for number in count():
                due += chance.expovariate(self._plan.rate)
                if due > self._plan.seconds:
                    return
                if (wait := started + due - time.perf_counter()) > 0:
                    await asyncio.sleep(wait)
                self._offered.late_milliseconds.append(1_000.0 * (time.perf_counter() - started - due))
                group.create_task(self._send(channels, number, started + due))

    async def _closed_loop(self, channels: Sequence[grpc.aio.Channel], started: float) -> None:
        numbers = count()

        async def caller() -> None:
            while (now := time.perf_counter()) < started + self._plan.seconds:
                await self._send(channels, next(numbers), now)

        async with asyncio.TaskGroup() as group:
            for _ in range(self._plan.callers):
                group.create_task(caller())

    async def _send(self, channels: Sequence[grpc.aio.Channel], number: int, due: float) -> None:
        call = self._calls[number % len(self._calls)]
        method: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channels[number % len(channels)].unary_unary(
            call.method
        )
        try:
            await method(call.content, timeout=self._plan.deadline_seconds)
        except grpc.aio.AioRpcError as error:
            name = error.code().name
            self._offered.ends[name] = self._offered.ends.get(name, 0) + 1
        else:
            self._offered.milliseconds.append(1_000.0 * (time.perf_counter() - due))


if __name__ == "__main__":
    given = Plan(**json.loads(sys.argv[1]))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        outcome = runner.run(_Generator(given, read_offered(Path(given.calls))).run())
    print(json.dumps(asdict(outcome)))
