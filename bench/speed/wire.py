"""Closed loops of calls over the wire, with messages made beforehand."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import grpc
import grpc.aio
import uvloop
from google.protobuf.message import Message

from bench.speed.calls import METHODS, Request
from groundwire.v1 import query_pb2, retrieval_pb2

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
            return [int(one.id.rpartition("::n")[2]) for one in getattr(answer, nodes)]

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
