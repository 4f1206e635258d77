"""Text queries over the wire: the server embeds queries that are in no cache, and searches."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.progress import Progress

from bench.quality.sets import Document, write_nodes
from bench.shared.programs import RunningProgram, build_index, cpu_seconds, process_tree, running, serve_command
from bench.shared.results import Grid
from bench.shared.statistics import Times, times
from bench.speed.index import SCOPE, local_id
from bench.speed.wire import measure
from groundwire.v1 import retrieval_pb2, scope_pb2

ANSWERS = 10


@dataclass(frozen=True, slots=True)
class TextLoad:
    """The results under the load of `clients`; CPU is in milliseconds per call."""

    clients: int
    times: Times
    calls_per_second: float
    server_cpu: float


def measure_text_queries(
    corpus: Sequence[Document],
    queries: Sequence[str],
    embedder: str,
    clients: Sequence[int],
    rounds: int,
    work: Path,
    progress: Progress,
) -> list[TextLoad]:
    """The loads by number of clients; each runs every query once per round. Raises RuntimeError."""
    work.mkdir(parents=True, exist_ok=True)
    source = work / "nodes.jsonl"
    write_nodes(source, (Document(local_id(row), document.fields) for row, document in enumerate(corpus)))
    build_index(source, SCOPE.repository, work / "data", embedder)
    with running(serve_command(work / "data", embedder=embedder), work / "server.log") as server:
        return [_load(server, queries, count, rounds) for count in progress.track(clients, description="asking")]


def grid(loads: Sequence[TextLoad], nodes: int) -> Grid:
    """One row per load."""
    rows = [
        [
            f"{load.clients} client{'s' if load.clients > 1 else ''}",
            *(f"{value:.2f}" for value in (load.times.median, load.times.p95, load.times.p99)),
            f"{load.calls_per_second:,.0f}",
            f"{load.server_cpu:.2f}",
        ]
        for load in loads
    ]
    headings = ["load", "p50 ms", "p95 ms", "p99 ms", "calls/s", "server CPU ms"]
    return Grid(f"Text queries over the wire, {nodes:,} nodes", headings, rows)


def _load(server: RunningProgram, queries: Sequence[str], clients: int, rounds: int) -> TextLoad:
    processes = process_tree(server.process)
    before = cpu_seconds(processes)
    # Different words in every round and load, so that no query is in a cache.
    asked = [[text_request(f"{query} {number}{clients}") for query in queries] for number in range(rounds)]
    measured = [measure(server.address, "semantic", one, range(len(one)), clients) for one in asked]
    spent, calls = cpu_seconds(processes) - before, rounds * len(queries)
    told = times([one.milliseconds for one in measured])
    return TextLoad(clients, told, calls / sum(one.seconds for one in measured), 1_000.0 * spent / calls)


def text_request(query: str) -> retrieval_pb2.SearchNodesRequest:
    """A semantic search by a text."""
    return retrieval_pb2.SearchNodesRequest(
        scope=scope_pb2.IndexScope(repository=SCOPE.repository, branch=SCOPE.branch),
        access=scope_pb2.AccessContext(),
        search_type=retrieval_pb2.SEARCH_TYPE_SEMANTIC,
        query=query,
        top_k=ANSWERS,
    )
