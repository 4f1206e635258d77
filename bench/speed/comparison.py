"""Compares servers: they take turns round by round, because the other load of the machine varies."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import grpc
import grpc.aio
import numpy as np
import uvloop
from google.protobuf.message import Message
from rich.progress import Progress

from bench.shared.programs import RunningProgram
from bench.speed.calls import METHODS, Request, Scenario, requests
from bench.speed.corpus import Corpus
from groundwire.v1 import query_pb2, retrieval_pb2

LEAST_CALLS_A_CLIENT = 10


@dataclass(frozen=True, slots=True)
class Plan:
    """The number of calls: `calls` per round and scenario, and at least ten per client."""

    scenarios: Sequence[Scenario]
    clients: Sequence[int]
    rounds: int
    calls: int


@dataclass(slots=True)
class Series:
    """The calls of one server in one scenario; no further ones are made after a `problem`.

    Attributes:
        milliseconds: The time of each call.
        seconds: The time of all together.
        recalls: For each round of semantic searches, the share of the true neighbours that were found.
        agreements: For each round, the share of answers with the rows of the first server's in the same order.
    """

    server: str
    scenario: str
    clients: int
    milliseconds: list[float] = field(default_factory=list[float])
    seconds: float = 0.0
    recalls: list[float] = field(default_factory=list[float])
    agreements: list[float] = field(default_factory=list[float])
    problem: str = ""

    def figures(self) -> dict[str, object]:
        """The percentiles and means, for a file of results."""
        what = {"server": self.server, "scenario": self.scenario, "clients": self.clients}
        if self.problem:
            return {**what, "problem": self.problem}
        percentiles = dict(zip(("p50", "p95", "p99"), self.percentiles, strict=True))
        shares = {"recall": mean(self.recalls), "agreement": mean(self.agreements)}
        return {**what, **percentiles, "calls_per_second": self.rate, **shares}

    @property
    def percentiles(self) -> list[float]:
        """The 50th, 95th and 99th, interpolated, of milliseconds."""
        percentiles: list[float] = np.percentile(self.milliseconds, (50.0, 95.0, 99.0)).tolist()
        return percentiles

    @property
    def rate(self) -> float:
        """Calls a second."""
        return len(self.milliseconds) / self.seconds


def mean(values: Sequence[float]) -> float | None:
    """None for no values."""
    return fmean(values) if values else None


def compare(servers: Mapping[str, RunningProgram], corpus: Corpus, plan: Plan, progress: Progress) -> list[Series]:
    """Calls servers of the corpus in turn, A B A B. A server is not asked again what it has failed to answer."""
    cases = [(scenario, clients) for clients in plan.clients for scenario in plan.scenarios]
    series = {case: [Series(name, str(case[0]), case[1]) for name in servers] for case in cases}
    for number in progress.track(range(plan.rounds), description="asking"):
        for (scenario, clients), by_server in series.items():
            count = max(plan.calls, LEAST_CALLS_A_CLIENT * clients)
            numbers = range(number * count, (number + 1) * count)
            prepared = requests(corpus, scenario)
            first: list[list[int]] = []
            for server_series in (server_series for server_series in by_server if not server_series.problem):
                try:
                    measured = measure(servers[server_series.server].address, scenario.kind, prepared, numbers, clients)
                except grpc.RpcError as error:
                    server_series.problem = " ".join(str(error).split())
                    continue
                server_series.milliseconds += measured.milliseconds
                server_series.seconds += measured.seconds
                if scenario.kind == "semantic":
                    server_series.recalls.append(corpus.recall(scenario.filter, numbers.start, measured.answers))
                if first:
                    server_series.agreements.append(fmean(a == b for a, b in zip(measured.answers, first, strict=True)))
                elif server_series is by_server[0]:
                    first = measured.answers
    return [server_series for by_server in series.values() for server_series in by_server]


WARMING = 5
"""The number of unmeasured calls that each client makes first."""
_RESPONSES: Mapping[str, tuple[type[Message], str]] = {
    "SearchNodes": (retrieval_pb2.SearchNodesResponse, "hits"),
    "ExpandDependencyTree": (retrieval_pb2.ExpandDependencyTreeResponse, "nodes"),
    "FetchNodeTexts": (retrieval_pb2.FetchNodeTextsResponse, "texts"),
    "Query": (query_pb2.QueryResponse, "matches"),
}
"""Each method's response, and its field of nodes."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """The times and rows of consecutive queries, in their order, and the time of all of them together."""

    milliseconds: list[float]
    answers: list[list[int]]
    seconds: float


def measure(address: str, kind: str, requests: Sequence[Request], numbers: Sequence[int], clients: int) -> Measurement:
    """Runs a closed loop of each client over one channel, on uvloop. Raises grpc.RpcError.

    One thread per client would measure Python's interpreter lock: 8 threads take twice as long as 8 tasks on one loop.
    """
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_measure(address, kind, requests, numbers, clients))


async def _measure(
    address: str, kind: str, requests: Sequence[Request], numbers: Sequence[int], clients: int
) -> Measurement:
    milliseconds = [0.0] * len(numbers)
    answers: list[list[int]] = [[]] * len(numbers)
    places = iter(range(len(numbers)))
    response, nodes = _RESPONSES[METHODS[kind].rpartition("/")[2]]

    async with grpc.aio.insecure_channel(address) as channel:
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(METHODS[kind])

        async def ask(number: int) -> list[int]:
            answer = response.FromString(await call(requests[number % len(requests)].SerializeToString()))
            return [int(node.id.rpartition("::n")[2]) for node in getattr(answer, nodes)]

        async def work() -> None:
            for place in places:
                began = time.perf_counter()
                answers[place] = await ask(numbers[place])
                milliseconds[place] = 1_000.0 * (time.perf_counter() - began)

        for number in numbers[-WARMING:]:
            await asyncio.gather(*(ask(number) for _ in range(clients)))
        started = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(clients)))
        return Measurement(milliseconds, answers, time.perf_counter() - started)
