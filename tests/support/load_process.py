"""A process of its own that loads a server: `python load_process.py PLAN`, a JSON object; a JSON object comes back.

Calls go out at a steady rate whatever becomes of those before (an open loop), or from a number of callers one after
another (a closed loop). Each is counted by how it ended. A share of them may be cancelled at a random time.
"""

import asyncio
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeAlias

import grpc.aio
import uvloop
from google.rpc import error_details_pb2, status_pb2

TICK_SECONDS = 0.005
DETAILS_KEY = "grpc-status-details-bin"
_Method: TypeAlias = "grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]"


@dataclass(frozen=True)
class Plan:
    """What to send. `rate` is in calls a second, 0 for a closed loop of `callers`; requests are hexadecimal."""

    address: str
    method: str
    requests: Sequence[str]
    seconds: float
    rate: float = 0.0
    callers: int = 0
    connections: int = 4
    deadlines: Sequence[float] = (10.0,)
    cancelled_share: float = 0.0
    cancelled_within: float = 0.05
    seed: int = 0


@dataclass
class Outcome:
    """What became of the calls. `ok_seconds` are the durations of those that were answered."""

    sent: int = 0
    ends: dict[str, int] = field(default_factory=dict[str, int])
    """By status and reason, such as `RESOURCE_EXHAUSTED OVERLOADED`; a refusal without RetryInfo says so."""
    ok_seconds: list[float] = field(default_factory=list[float])
    retry_seconds: list[float] = field(default_factory=list[float])
    """The shortest and the longest RetryInfo."""
    seconds: float = 0.0
    """How long it took until the last call had ended."""

    @property
    def rate(self) -> float:
        """How many calls were answered a second."""
        return len(self.ok_seconds) / self.seconds


class Load:
    """Carries a plan out."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._requests = [bytes.fromhex(request) for request in plan.requests]
        self._chance = random.Random(plan.seed)
        self._ends: Counter[str] = Counter()
        self._retries: list[float] = []
        self._outcome = Outcome()

    async def run(self) -> Outcome:
        """Sends everything and waits for the last call to end."""
        channels = [
            grpc.aio.insecure_channel(self._plan.address, (("grpc.use_local_subchannel_pool", 1),))
            for _ in range(self._plan.connections)
        ]
        methods: list[_Method] = [channel.unary_unary(self._plan.method) for channel in channels]
        started = time.monotonic()
        await (self._open_loop(methods) if self._plan.rate else self._closed_loop(methods))
        self._outcome.seconds = time.monotonic() - started
        for channel in channels:
            await channel.close()
        self._outcome.ends = dict(self._ends)
        self._outcome.retry_seconds = [min(self._retries), max(self._retries)] if self._retries else []
        return self._outcome

    async def _open_loop(self, methods: Sequence[_Method]) -> None:
        started, due, calls = time.monotonic(), 0, set[asyncio.Task[None]]()
        while (passed := time.monotonic() - started) < self._plan.seconds:
            while due < passed * self._plan.rate:
                due += 1
                task = asyncio.create_task(self._call(methods[due % len(methods)]))
                calls.add(task)
                task.add_done_callback(calls.discard)
            await asyncio.sleep(TICK_SECONDS)
        while calls:
            await asyncio.wait(calls)

    async def _closed_loop(self, methods: Sequence[_Method]) -> None:
        end = time.monotonic() + self._plan.seconds

        async def caller(number: int) -> None:
            while time.monotonic() < end:
                await self._call(methods[number % len(methods)])

        await asyncio.gather(*map(caller, range(self._plan.callers)))

    async def _call(self, method: _Method) -> None:
        self._outcome.sent += 1
        started = time.monotonic()
        call = method(self._chance.choice(self._requests), timeout=self._chance.choice(self._plan.deadlines))
        if self._chance.random() < self._plan.cancelled_share:
            asyncio.get_running_loop().call_later(self._chance.random() * self._plan.cancelled_within, call.cancel)
        try:
            await call
        except grpc.aio.AioRpcError as error:
            self._ends[self._failure(error)] += 1
        except asyncio.CancelledError:
            self._ends["CANCELLED"] += 1
        else:
            self._ends["OK"] += 1
            self._outcome.ok_seconds.append(time.monotonic() - started)

    def _failure(self, error: grpc.aio.AioRpcError) -> str:
        trailers = dict(error.trailing_metadata() or ())
        status = status_pb2.Status.FromString(trailers.get(DETAILS_KEY, b""))
        info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
        retries = [detail.Unpack(retry) for detail in status.details if not detail.Unpack(info)]
        name = " ".join((error.code().name, info.reason.removeprefix("ERROR_REASON_"), info.metadata.get("rule", "")))
        if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
            if not any(retries):
                return f"{name} without RetryInfo: {error.details()}"
            self._retries.append(retry.retry_delay.ToTimedelta().total_seconds())
        return name.strip()


def start(plan: Plan) -> "subprocess.Popen[str]":
    """Begins to carry a plan out."""
    command = [sys.executable, str(Path(__file__)), json.dumps(asdict(plan))]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def outcome_of(process: "subprocess.Popen[str]") -> Outcome:
    """What became of the plan, once it is carried out."""
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return Outcome(**json.loads(output))


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(asdict(runner.run(Load(Plan(**json.loads(sys.argv[1]))).run()))))
