"""How many requests a call makes of Milvus, and how many bytes: counted by a proxy between Groundwire and Milvus."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from urllib.parse import urlsplit

import grpc

from bench.shared.programs import running, serve_command
from bench.speed.calls import Calls, Scenario
from bench.speed.corpus import Corpus
from bench.speed.index import ensure_index
from bench.speed.milvus import serve_options
from bench.speed.wire import WARMING, measure
from groundwire_index.milvus.address import MilvusAddress

_ANY_SIZE = (("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1))
_THREADS = 16
_READING = ("Search", "Query")


@dataclass(frozen=True, slots=True)
class Requests:
    """What one call of a scenario asks of Milvus, on average: searches and queries, and the bytes of their messages."""

    scenario: str
    searches: float
    queries: float
    sent: float
    received: float


def count_requests(
    corpus: Corpus, address: MilvusAddress, scenarios: Sequence[Scenario], calls: int, work: Path
) -> list[Requests]:
    """Counts over `calls` of each scenario, after as many that are not counted, so that what is cached is.

    What a server asks twice a second, whatever its calls, is left out. Raises RuntimeError.
    """
    made = Calls(corpus)
    with _counted(address.uri) as (uri, traffic):
        options = serve_options(replace(address, uri=uri), work / "counted.yaml")
        command = serve_command(ensure_index(corpus), options)
        with running(command, work / "counted.log") as server:
            found = []
            for scenario in scenarios:
                requests = made.requests(scenario)
                measure(server.address, scenario.kind, requests, range(calls), 1)
                traffic.clear()
                measure(server.address, scenario.kind, requests, range(calls), 1)
                found.append(_average(scenario, traffic, calls + min(calls, WARMING)))
    return found


@dataclass(slots=True)
class _Traffic:
    """Requests, and bytes sent and received, by method."""

    counts: Counter[str] = field(default_factory=Counter[str])
    sent: Counter[str] = field(default_factory=Counter[str])
    received: Counter[str] = field(default_factory=Counter[str])
    _lock: Lock = field(default_factory=Lock)

    def add(self, method: str, sent: int, received: int) -> None:
        with self._lock:
            self.counts[method] += 1
            self.sent[method] += sent
            self.received[method] += received

    def clear(self) -> None:
        with self._lock:
            for one in (self.counts, self.sent, self.received):
                one.clear()


def _average(scenario: Scenario, traffic: _Traffic, calls: int) -> Requests:
    sent, received = (sum(one[name] for name in _READING) for one in (traffic.sent, traffic.received))
    searches, queries = (traffic.counts[name] for name in _READING)
    return Requests(str(scenario), searches / calls, queries / calls, sent / calls, received / calls)


class _Forwarding(grpc.GenericRpcHandler):
    """Passes every unary request on as it is, and counts it."""

    def __init__(self, channel: grpc.Channel, traffic: _Traffic) -> None:
        self._channel = channel
        self._traffic = traffic

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[bytes, bytes]":
        """See `grpc.GenericRpcHandler.service`."""
        method: str = handler_call_details.method
        call: Callable[..., bytes] = self._channel.unary_unary(method)

        def forward(request: bytes, context: grpc.ServicerContext) -> bytes:
            metadata = tuple((key, value) for key, value in context.invocation_metadata() if key != "user-agent")
            try:
                response = call(request, timeout=context.time_remaining(), metadata=metadata)
            except grpc.RpcError as error:
                context.abort(error.code(), error.details() or "")
                raise
            self._traffic.add(method.rpartition("/")[2], len(request), len(response))
            return response

        return grpc.unary_unary_rpc_method_handler(forward)


@contextmanager
def _counted(uri: str) -> Iterator[tuple[str, _Traffic]]:
    """A URI that leads to another one's Milvus, and what passes."""
    traffic = _Traffic()
    with grpc.insecure_channel(urlsplit(uri).netloc, _ANY_SIZE) as channel, ThreadPoolExecutor(_THREADS) as threads:
        server = grpc.server(threads, [_Forwarding(channel, traffic)], options=_ANY_SIZE)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            yield f"http://127.0.0.1:{port}", traffic
        finally:
            server.stop(None).wait()
