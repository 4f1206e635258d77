"""Closed loops of more and more clients against servers of one and more workers."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.progress import Progress

from bench.shared.programs import cpu_seconds, process_tree
from bench.shared.results import Grid
from bench.shared.statistics import times
from bench.speed.corpus import Corpus
from bench.speed.protocol import WARMING, Scenario
from bench.speed.systems import AdapterProcess, own_system

KINDS = (
    Scenario("semantic"),
    Scenario("semantic", "1 % random"),
    Scenario("bm25"),
    Scenario("hybrid"),
    Scenario("expand"),
    Scenario("fetch"),
    Scenario("query"),
)
_PROBE_CALLS = 32
_MOST_CALLS = 20_000


@dataclass(frozen=True, slots=True)
class Load:
    """The results of a server with `workers` under the load of `clients`. CPU is in milliseconds per call."""

    workers: int
    scenario: str
    clients: int
    calls_per_second: float
    median: float
    p99: float
    server_cpu: float
    client_cpu: float

    @property
    def capacity(self) -> float:
        """Calls per second if every worker had a core of its own, and clients ran on other machines."""
        return 1_000.0 * self.workers / self.server_cpu


def measure_throughput(
    corpus: Corpus,
    workers: Sequence[int],
    scenarios: Sequence[Scenario],
    clients: Sequence[int],
    seconds: float,
    work: Path,
    progress: Progress,
) -> list[Load]:
    """All servers run at once and are called in turn. Raises AdapterError, UnsupportedError."""
    loads = []
    with ExitStack() as stack:
        adapters = {}
        for count in workers:
            options = ("--workers", str(count)) if count > 1 else ()
            system = own_system(f"{count} workers", "groundwire", options)
            adapters[count] = stack.enter_context(AdapterProcess(system, work / f"workers-{count}"))
            adapters[count].load(corpus.folder)
        task = progress.add_task("asking", total=len(scenarios) * len(clients) * len(adapters))
        for scenario in scenarios:
            for number in clients:
                for count, adapter in adapters.items():
                    progress.update(task, description=f"{scenario}, {number} clients, {count} workers")
                    loads.append(_load(adapter, count, scenario, number, seconds))
                    progress.advance(task)
    return loads


def grids(loads: Sequence[Load], nodes: int) -> list[Grid]:
    """One table per call; the last columns compare a server with the first of the same call and clients."""
    tables = []
    for scenario in dict.fromkeys(load.scenario for load in loads):
        rows = []
        first: Load | None = None
        for load in (one for one in loads if one.scenario == scenario):
            if first is None or first.clients != load.clients:
                first = load
            rows.append(
                [
                    f"{load.clients} clients, {load.workers} workers",
                    f"{load.calls_per_second:,.0f}",
                    f"{load.median:.2f}",
                    f"{load.p99:.2f}",
                    f"{load.server_cpu:.3f}",
                    f"{load.client_cpu:.3f}",
                    f"{load.calls_per_second / first.calls_per_second:.2f}",
                    f"{load.capacity / first.capacity:.2f}",
                ]
            )
        headings = [
            "load",
            "calls/s",
            "p50 ms",
            "p99 ms",
            "server CPU ms",
            "client CPU ms",
            "calls/s ratio",
            "capacity ratio",
        ]
        tables.append(Grid(f"Throughput, {scenario}: {nodes:,} nodes", headings, rows))
    return tables


def _load(adapter: AdapterProcess, workers: int, scenario: Scenario, clients: int, seconds: float) -> Load:
    probe = adapter.ask(scenario, 0, _PROBE_CALLS + clients, clients)
    rate = (_PROBE_CALLS + clients) / probe.seconds
    calls = min(max(round(rate * seconds), 10 * clients), _MOST_CALLS)
    servers, asking = adapter.processes(), process_tree(adapter.process_id)
    asking = [process for process in asking if process not in servers]
    before = cpu_seconds(servers), cpu_seconds(asking)
    measured = adapter.ask(scenario, 0, calls, clients)
    spent = cpu_seconds(servers) - before[0], cpu_seconds(asking) - before[1]
    told = times([measured.milliseconds])
    asked = calls + WARMING * clients
    return Load(
        workers,
        str(scenario),
        clients,
        calls / measured.seconds,
        told.median,
        told.p99,
        1_000.0 * spent[0] / asked,
        1_000.0 * spent[1] / asked,
    )
