"""Closed loops of calls over the wire, with messages made beforehand."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import Any, TypeAlias

import grpc
import grpc.aio
import uvloop
from google.protobuf.message import Message

from bench.speed.calls import METHODS, Request
from bench.speed.index import row_of
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
Method: TypeAlias = Callable[[Request], Any]


@dataclass(frozen=True, slots=True)
class Measurement:
    """The times and rows of consecutive queries, in their order, and the time of all of them together."""

    milliseconds: list[float]
    answers: list[list[int]]
    seconds: float


def measure(address: str, kind: str, requests: Sequence[Request], numbers: Sequence[int], clients: int) -> Measurement:
    """Runs a closed loop over one channel: with blocking calls for one client, else on uvloop.

    One thread per client would measure Python's interpreter lock: 8 threads take twice as long as 8 tasks on one loop.
    Raises grpc.RpcError.
    """
    if clients == 1:
        return _measure_one(address, kind, requests, numbers)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_measure(address, kind, requests, numbers, clients))


def method(channel: grpc.Channel | grpc.aio.Channel, kind: str) -> Method:
    """A callable for the method of a kind of call; on an asyncio channel its result is awaitable."""
    response, _ = _response(kind)
    call: Method = channel.unary_unary(
        METHODS[kind], request_serializer=methodcaller("SerializeToString"), response_deserializer=response.FromString
    )
    return call


def _response(kind: str) -> tuple[type[Message], str]:
    return _RESPONSES[METHODS[kind].rpartition("/")[2]]


def _rows(kind: str, response: Message) -> list[int]:
    """The rows that a response names, in its order."""
    return [row_of(one.id) for one in getattr(response, _response(kind)[1])]


def _measure_one(address: str, kind: str, requests: Sequence[Request], numbers: Sequence[int]) -> Measurement:
    milliseconds, answers = [], []
    with grpc.insecure_channel(address) as channel:
        call = method(channel, kind)
        for number in numbers[-WARMING:]:
            call(requests[number % len(requests)])
        started = time.perf_counter()
        for number in numbers:
            begun = time.perf_counter()
            answers.append(_rows(kind, call(requests[number % len(requests)])))
            milliseconds.append(1_000.0 * (time.perf_counter() - begun))
        return Measurement(milliseconds, answers, time.perf_counter() - started)


async def _measure(
    address: str, kind: str, requests: Sequence[Request], numbers: Sequence[int], clients: int
) -> Measurement:
    milliseconds = [0.0] * len(numbers)
    answers: list[list[int]] = [[]] * len(numbers)
    places = iter(range(len(numbers)))

    async def ask(call: Callable[[Request], Awaitable[Message]], number: int) -> list[int]:
        return _rows(kind, await call(requests[number % len(requests)]))

    async def work(call: Callable[[Request], Awaitable[Message]]) -> None:
        for place in places:
            started = time.perf_counter()
            answers[place] = await ask(call, numbers[place])
            milliseconds[place] = 1_000.0 * (time.perf_counter() - started)

    async with grpc.aio.insecure_channel(address) as channel:
        call = method(channel, kind)
        for number in numbers[-WARMING:]:
            await asyncio.gather(*(ask(call, number) for _ in range(clients)))
        started = time.perf_counter()
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(clients):
                    group.create_task(work(call))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return Measurement(milliseconds, answers, time.perf_counter() - started)
