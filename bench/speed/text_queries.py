"""Text queries from end to end: the server embeds what no cache knows yet, and searches; over the wire."""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from rich.progress import Progress

from bench.quality.sets import Document, write_nodes
from bench.shared.programs import GROUNDWIRE, RunningProgram, cpu_seconds, process_tree, running
from bench.shared.results import Grid
from bench.shared.statistics import Times, times
from bench.speed.index import SCOPE, local_id
from bench.speed.protocol import Scenario
from bench.speed.wire import measure
from groundwire.v1 import retrieval_pb2, scope_pb2

ANSWERS = 10
_SEMANTIC = Scenario("semantic")


@dataclass(frozen=True, slots=True)
class Variant:
    """The program, perhaps without a part of it when it indexes or serves; see `bench.speed.without`."""

    name: str
    indexes_without: str = ""
    serves_without: str = ""


VARIANTS = (
    Variant("int8, batches"),
    Variant("int8, one at a time", serves_without="batches"),
    Variant("the model itself", indexes_without="encoder"),
)


@dataclass(frozen=True, slots=True)
class TextLoad:
    """What a variant did for so many clients; the server's CPU in milliseconds a call."""

    variant: str
    clients: int
    times: Times
    calls_per_second: float
    server_cpu: float


@dataclass(slots=True)
class _Rounds:
    milliseconds: list[list[float]] = field(default_factory=list)
    seconds: float = 0.0
    cpu: float = 0.0


def measure_text_queries(
    corpus: Sequence[Document],
    queries: Sequence[str],
    embedder: str,
    clients: Sequence[int],
    rounds: int,
    work: Path,
    progress: Progress,
) -> list[TextLoad]:
    """All variants serve at once and are asked in turn, every query once a round. Raises RuntimeError."""
    source = work / "nodes.jsonl"
    write_nodes(source, (Document(local_id(row), document.fields) for row, document in enumerate(corpus)))
    measured = {(variant.name, number): _Rounds() for number in clients for variant in VARIANTS}
    with ExitStack() as stack:
        servers = {}
        for variant in VARIANTS:
            task = progress.add_task(f"indexing and starting: {variant.name}", total=None)
            servers[variant.name] = stack.enter_context(_serving(variant, source, embedder, work))
            progress.remove_task(task)
        task = progress.add_task("asking", total=rounds * len(measured))
        for number in range(rounds):
            for (name, count), so_far in measured.items():
                # Not the words of any other round or load: nothing is in a cache.
                asked = [f"{query} {number}{count}" for query in queries]
                _ask(servers[name], asked, count, so_far)
                progress.advance(task)
    calls = rounds * len(queries)
    return [
        TextLoad(name, count, times(one.milliseconds), calls / one.seconds, 1_000.0 * one.cpu / calls)
        for (name, count), one in measured.items()
    ]


def grid(loads: Sequence[TextLoad], nodes: int) -> Grid:
    """A row a load, compared with the same number of clients of the other variants."""
    rows = []
    for load in loads:
        others = [one for one in loads if one.clients == load.clients and one is not load]
        rows.append(
            [
                f"{load.variant}, {load.clients} client{'s' if load.clients > 1 else ''}",
                f"{load.times.median:.2f}",
                f"{load.times.p95:.2f}",
                f"{load.times.p99:.2f}",
                f"{load.calls_per_second:,.0f}",
                f"{load.server_cpu:.2f}",
                ", ".join(f"{load.calls_per_second / one.calls_per_second:.2f} x {one.variant}" for one in others),
            ]
        )
    headings = ["load", "p50 ms", "p95 ms", "p99 ms", "calls/s", "server CPU ms", "calls/s compared"]
    return Grid(f"Text queries over the wire, {nodes:,} nodes", headings, rows)


def _serving(variant: Variant, source: Path, embedder: str, work: Path) -> AbstractContextManager[RunningProgram]:
    data = work / f"data-{VARIANTS.index(variant)}"
    names = ("--repository", SCOPE.repository, "--branch", SCOPE.branch)
    models = ("--embedder", embedder, "--data", str(data))
    if not data.exists():
        index = [*_program(variant.indexes_without), "index", str(source), *names, *models]
        if subprocess.run(index, check=False, stdout=subprocess.DEVNULL).returncode:
            raise RuntimeError(f"{' '.join(index)} failed")
    listen = ("--listen", "127.0.0.1:0", "--log-format", "json", "--log-level", "info")
    return running([*_program(variant.serves_without), "serve", *models, *listen], work / f"{data.name}.log")


def _program(without: str) -> list[str]:
    return [sys.executable, "-m", "bench.speed.without", without] if without else [str(GROUNDWIRE)]


def _ask(server: RunningProgram, queries: Sequence[str], clients: int, so_far: _Rounds) -> None:
    requests = [_request(query) for query in queries]
    processes = process_tree(server.process)
    before = cpu_seconds(processes)
    found = measure(server.address, _SEMANTIC, requests, range(len(requests)), clients)
    so_far.milliseconds.append(found.milliseconds)
    so_far.seconds += found.seconds
    so_far.cpu += cpu_seconds(processes) - before


def _request(query: str) -> retrieval_pb2.SearchNodesRequest:
    return retrieval_pb2.SearchNodesRequest(
        scope=scope_pb2.IndexScope(repository=SCOPE.repository, branch=SCOPE.branch),
        access=scope_pb2.AccessContext(),
        search_type=retrieval_pb2.SEARCH_TYPE_SEMANTIC,
        query=query,
        top_k=ANSWERS,
    )
