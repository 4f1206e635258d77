"""Closed loops of calls over the wire, with the generated stubs and messages made beforehand."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

import grpc
import grpc.aio
import uvloop

from bench.speed.calls import SEARCHES, Request
from bench.speed.index import row_of
from bench.speed.protocol import WARMING, Measurement, Scenario, closed_loop
from groundwire.v1 import query_pb2, query_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc

REQUEST_ID = "x-request-id"
"""Metadata that a server takes up and returns; the echo server finds the response by it."""

Response: TypeAlias = (
    retrieval_pb2.SearchNodesResponse
    | retrieval_pb2.ExpandDependencyTreeResponse
    | retrieval_pb2.FetchNodeTextsResponse
    | query_pb2.QueryResponse
)
Method: TypeAlias = Callable[..., Any]


def measure(
    address: str, scenario: Scenario, requests: Sequence[Request], numbers: Sequence[int], clients: int
) -> Measurement:
    """Asks in a closed loop over one channel: with blocking calls for one client, else on uvloop.

    A thread a client would measure Python's lock: 8 of them take twice as long as 8 tasks on one loop.
    """
    if clients == 1:
        with grpc.insecure_channel(address) as channel:
            call = method(channel, scenario.kind)
            return closed_loop([lambda number: _ask(call, scenario, requests, number)], numbers)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_measure(address, scenario, requests, numbers, clients))


def method(channel: grpc.Channel | grpc.aio.Channel, kind: str) -> Method:
    """The stub's method that answers a kind of call."""
    # One class serves both kinds of channel; its types know the blocking one.
    retrieval: Any = retrieval_pb2_grpc.RetrievalServiceStub(channel)
    if kind in SEARCHES:
        return retrieval.SearchNodes  # type: ignore[no-any-return]
    if kind == "fetch":
        return retrieval.FetchNodeTexts  # type: ignore[no-any-return]
    if kind == "query":
        query: Any = query_pb2_grpc.QueryServiceStub(channel)
        return query.Query  # type: ignore[no-any-return]
    return retrieval.ExpandDependencyTree  # type: ignore[no-any-return]


def request_id(scenario: Scenario, number: int) -> str:
    """A name for one query of a scenario, fit for a log."""
    plain = "".join(character if character.isalnum() else "-" for character in str(scenario))
    return f"{plain}.{number}"


def rows(response: Response) -> list[int]:
    """The rows that a response names, in its order."""
    if isinstance(response, retrieval_pb2.SearchNodesResponse):
        return [row_of(hit.id) for hit in response.hits]
    if isinstance(response, retrieval_pb2.ExpandDependencyTreeResponse):
        return [row_of(node.id) for node in response.nodes]
    if isinstance(response, retrieval_pb2.FetchNodeTextsResponse):
        return [row_of(text.id) for text in response.texts]
    return [row_of(match.id) for match in response.matches]


def _ask(call: Method, scenario: Scenario, requests: Sequence[Request], number: int) -> list[int]:
    number %= len(requests)
    return rows(call(requests[number], metadata=((REQUEST_ID, request_id(scenario, number)),)))


async def _measure(
    address: str, scenario: Scenario, requests: Sequence[Request], numbers: Sequence[int], clients: int
) -> Measurement:
    milliseconds = [0.0] * len(numbers)
    answers: list[list[int]] = [[]] * len(numbers)
    places = iter(range(len(numbers)))

    async def ask(call: Callable[..., Awaitable[Response]], number: int) -> list[int]:
        number %= len(requests)
        return rows(await call(requests[number], metadata=((REQUEST_ID, request_id(scenario, number)),)))

    async def work(call: Callable[..., Awaitable[Response]]) -> None:
        for place in places:
            started = time.perf_counter()
            answers[place] = await ask(call, numbers[place])
            milliseconds[place] = 1_000.0 * (time.perf_counter() - started)

    async with grpc.aio.insecure_channel(address) as channel:
        call = method(channel, scenario.kind)
        for number in numbers[-WARMING:]:
            await asyncio.gather(*(ask(call, number) for _ in range(clients)))
        started = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for _ in range(clients):
                group.create_task(work(call))
        return Measurement(milliseconds, answers, time.perf_counter() - started)
